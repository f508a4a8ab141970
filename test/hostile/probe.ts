/**
 * The work of the second tenant: a few requests and edits per second, at fixed times, independent of earlier answers.
 */
import * as decoding from 'lib0/decoding'
import { Pool } from 'undici'
import * as Y from 'yjs'
import { awarenessFrame, enter, type as frameType, type RawClient } from '../support/raw-client.ts'
import { resizeWidths } from '../../core/file.ts'
import type { Accounts } from './scene.ts'

/** Probes per second for each kind, about 80 in total. */
export const rates = { read: 20, write: 8, search: 6, edit: 15, cursor: 26, open: 1, picture: 1, me: 3 }
export type ProbeKind = keyof typeof rates
/** Kinds that are too rare for a percentile, and more expensive. They are judged by their median. */
export const rareKinds: readonly ProbeKind[] = ['open', 'picture']
export const probesPerSecond = Object.values(rates).reduce((sum, rate) => sum + rate, 0)

export interface Samples {
  /** Milliseconds since the time at which each probe was due. A failed probe counts with the full timeout. */
  latenciesMs: Partial<Record<ProbeKind, number[]>>
  /** Number of failures for each reason. */
  failures: Record<string, number>
}

/** A probe that takes longer has failed. */
export const probeTimeoutMs = 10_000

const renewMs = 10_000

type Session = Awaited<ReturnType<typeof enter>>

export class Prober {
  readonly #scene: Accounts
  readonly #pool: Pool
  readonly #editing: EditingPair
  readonly #timers: Partial<Record<ProbeKind, NodeJS.Timeout>> = {}
  readonly #running = new Set<Promise<void>>()
  #samples: Samples = { latenciesMs: {}, failures: {} }
  #turn = 0

  constructor(scene: Accounts) {
    this.#scene = scene
    this.#pool = new Pool(scene.url, { connections: 32, pipelining: 1 })
    this.#editing = new EditingPair(scene)
  }

  /** Resolves when both editors have the board open. */
  async open(): Promise<void> {
    await this.#editing.open()
  }

  /** Probes until `stop`. Discards earlier results. */
  start(): void {
    this.#samples = { latenciesMs: {}, failures: {} }
    for (const [kind, rate] of Object.entries(rates) as [ProbeKind, number][]) {
      const everyMs = 1000 / rate
      this.#schedule(kind, performance.now() + Math.random() * everyMs, everyMs)
    }
  }

  /** Probes when it is due, and again every `everyMs`, also when this process was late. */
  #schedule(kind: ProbeKind, dueMs: number, everyMs: number): void {
    this.#timers[kind] = setTimeout(
      () => {
        this.#probe(kind, dueMs)
        this.#schedule(kind, dueMs + everyMs, everyMs)
      },
      Math.max(0, dueMs - performance.now()),
    )
  }

  /** Resolves when the last probe has its answer, or its timeout. */
  async stop(): Promise<Samples> {
    for (const timer of Object.values(this.#timers)) clearTimeout(timer)
    await Promise.all(this.#running)
    return this.#samples
  }

  async close(): Promise<void> {
    this.#editing.close()
    await this.#pool.destroy()
  }

  #probe(kind: ProbeKind, dueMs: number): void {
    const turn = (this.#turn += 1)
    const timeout = Promise.withResolvers<never>()
    const over = new AbortController()
    const timer = setTimeout(
      () => {
        timeout.reject(new Error(`no answer in ${probeTimeoutMs / 1000} s`))
        over.abort()
      },
      dueMs + probeTimeoutMs - performance.now(),
    )
    const latencies = (this.#samples.latenciesMs[kind] ??= [])
    const { failures } = this.#samples
    const probing = Promise.race([this.#do(kind, turn, over.signal), timeout.promise])
      .then(
        () => latencies.push(performance.now() - dueMs),
        (error: Error) => {
          latencies.push(Math.max(probeTimeoutMs, performance.now() - dueMs))
          const reason = `${kind}: ${error.message.slice(0, 120)}`
          failures[reason] = (failures[reason] ?? 0) + 1
        },
      )
      .then(() => {
        clearTimeout(timer)
        this.#running.delete(probing)
      })
    this.#running.add(probing)
  }

  async #do(kind: ProbeKind, turn: number, signal: AbortSignal): Promise<void> {
    const { boardId, tokens, cardIds, pictureKeys } = this.#scene.tenant
    switch (kind) {
      case 'read':
        await this.#request('GET', `/boards/${boardId}/cards?limit=20`, signal)
        return
      case 'me':
        await this.#request('GET', '/me', signal)
        return
      case 'search':
        await this.#request('GET', '/search?q=lantern&limit=20', signal)
        return
      case 'write': {
        const path = `/boards/${boardId}/cards/${cardIds[turn % cardIds.length]}`
        await this.#request('PATCH', path, signal, {
          title: `Lantern ${turn}`,
          body: `Written in turn ${turn}.`,
        })
        return
      }
      case 'picture': {
        const n = turn % (pictureKeys.length * resizeWidths.length)
        const key = encodeURIComponent(pictureKeys[n % pictureKeys.length]!)
        const width = resizeWidths[Math.floor(n / pictureKeys.length)]
        await this.#request('GET', `/images/${key}?w=${width}`, signal)
        return
      }
      case 'open': {
        const { socket } = await enter(this.#scene.url, { boardId, token: tokens[0]! })
        socket.terminate()
        return
      }
      case 'edit':
        return this.#editing.edit(turn)
      case 'cursor':
        return this.#editing.moveCursor(turn)
    }
  }

  async #request(method: 'GET' | 'PATCH', path: string, signal: AbortSignal, json?: object): Promise<void> {
    const { statusCode, body } = await this.#pool.request({
      method,
      path: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${this.#scene.tenant.tokens[0]}`,
        ...(json ? { 'content-type': 'application/json' } : {}),
      },
      body: json ? JSON.stringify(json) : null,
      signal,
    })
    await body.dump()
    if (statusCode >= 300) throw new Error(`${statusCode}`)
  }
}

/** Two sockets on the tenant's board. One edits and moves its cursor, the other observes it. */
class EditingPair {
  readonly #scene: Accounts
  #writer: Session | null = null
  #watcher: Session | null = null
  #document = new Y.Doc()
  #opening: Promise<void> | null = null
  #renewedMs = 0
  #edits: PromiseWithResolvers<void>[] = []
  #moves: { n: number; seen: PromiseWithResolvers<void> }[] = []

  constructor(scene: Accounts) {
    this.#scene = scene
  }

  async open(): Promise<void> {
    const { boardId, tokens } = this.#scene.tenant
    const seat = () => enter(this.#scene.url, { boardId, token: tokens[0]! })
    const [writer, watcher] = await Promise.all([seat(), seat()])
    this.#writer = writer
    this.#watcher = watcher
    this.#document = writer.documentOf(writer.address)
    this.#document.on('update', (update: Uint8Array, _origin, _document, { local }: Y.Transaction) => {
      if (local) writer.update(update)
    })
    onFrame(writer, (type, content) => {
      if (type !== frameType.syncStatus) return
      const edit = this.#edits.shift()
      if (content[0] === 1) edit?.resolve()
      else edit?.reject(new Error('the edit was refused'))
    })
    onFrame(watcher, (type, content) => {
      if (type === frameType.awareness) this.#see(content)
    })
    for (const { socket } of [writer, watcher])
      socket.once('close', (code, reason) =>
        this.#lost(new Error(`socket closed: ${code} ${reason.toString()}`)),
      )
  }

  async edit(turn: number): Promise<void> {
    await this.#opened()
    const { cardIds } = this.#scene.tenant
    const card = this.#document.getMap<Y.Map<unknown>>('cards').get(cardIds[turn % cardIds.length]!)
    if (!card) throw new Error('the card is not in the document')
    const acknowledged = Promise.withResolvers<void>()
    this.#edits.push(acknowledged)
    card.set('x', turn)
    await acknowledged.promise
  }

  async moveCursor(turn: number): Promise<void> {
    const { socket, address } = await this.#opened()
    const seen = Promise.withResolvers<void>()
    this.#moves.push({ n: turn, seen })
    this.#renew(turn)
    socket.send(
      awarenessFrame(address, [
        { client: this.#document.clientID, clock: turn, state: JSON.stringify({ cursor: { n: turn } }) },
      ]),
    )
    await seen.promise
  }

  close(): void {
    for (const one of [this.#writer, this.#watcher]) {
      one?.socket.removeAllListeners('close')
      one?.socket.terminate()
    }
  }

  /** Reconnects a pair that the service has closed. */
  async #opened(): Promise<Session> {
    if (!this.#writer) {
      this.#opening ??= this.open().finally(() => (this.#opening = null))
      await this.#opening
    }
    return this.#writer!
  }

  /**
   * Renews the awareness of the observer, as a provider does. The service closes a socket after a minute of silence.
   */
  #renew(clock: number): void {
    if (performance.now() - this.#renewedMs < renewMs || !this.#watcher) return
    this.#renewedMs = performance.now()
    const { address } = this.#watcher
    const client = this.#watcher.documentOf(address).clientID
    this.#watcher.send(awarenessFrame(address, [{ client, clock, state: '{}' }]))
  }

  /** A newer state may replace an older one before it is delivered. */
  #see(content: Uint8Array): void {
    const decoder = decoding.createDecoder(decoding.readVarUint8Array(decoding.createDecoder(content)))
    for (let left = decoding.readVarUint(decoder); left > 0; left--) {
      const client = decoding.readVarUint(decoder)
      const clock = decoding.readVarUint(decoder)
      decoding.readVarString(decoder)
      if (client !== this.#document.clientID) continue
      while (this.#moves[0] && this.#moves[0].n <= clock) this.#moves.shift()!.seen.resolve()
    }
  }

  #lost(error: Error): void {
    this.close()
    this.#writer = null
    this.#watcher = null
    for (const edit of this.#edits.splice(0)) edit.reject(error)
    for (const { seen } of this.#moves.splice(0)) seen.reject(error)
  }
}

function onFrame({ socket }: RawClient, heard: (type: number, content: Uint8Array) => void): void {
  socket.on('message', (data: Buffer) => {
    const decoder = decoding.createDecoder(new Uint8Array(data))
    decoding.readVarString(decoder)
    heard(decoding.readVarUint(decoder), decoding.readTailAsUint8Array(decoder))
  })
}
