/**
 * Runs rounds of `kill -9` under load, at every step of a delivery. Each committed change must reach the receiver in
 * one event, within a minute of the restart. No other change may reach it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { addUser } from '../../sql/accounts/accounts.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { openEditor, until, type Editor } from '../support/editor.ts'
import { openReceiver, type Received, type Receiver } from '../support/receiver.ts'
import { Random } from './random.ts'
import { ServiceProcess } from '../support/service-process.ts'

/** The moment at which the process is killed. */
export const eventKills = {
  'after the answer': 'as soon as a write is answered: the event is in the outbox, or just queued',
  'after send': 'as soon as a delivery has arrived, before the receiver answers it',
  'before the log': 'as soon as the receiver has answered, before that is written down',
  'at random': 'at any moment under load',
  'at the start': 'at any moment, and again while it starts',
} as const
export type EventKill = keyof typeof eventKills

const secretKey = 'of the crash rounds: more than 32 characters'
const withinMs = 60_000
/** Matches the names that API clients give to the board or card that they change. */
const titles = /^change (\d+)$/

interface Change {
  /** Identifies the event: the id of the created card, or the new name. */
  key: string
  at: number
}

export class EventRun {
  readonly #service: ServiceProcess
  readonly #random: Random
  readonly #receiver: Receiver
  readonly #token: string
  readonly #boardId: string
  readonly #kills: readonly EventKill[]
  /** Number of changes answered with 2xx or acknowledged. */
  readonly #changes: Change[] = []
  readonly #readyAt: number[] = []
  readonly #faults: string[] = []
  #editor: Editor | null = null
  #stopped = true
  #writers: Promise<void>[] = []
  #count = 0
  #rounds = 0
  /** The pending kill, while it waits for its moment. */
  #onWritten: (() => void) | null = null

  private constructor(
    service: ServiceProcess,
    random: Random,
    receiver: Receiver,
    account: { token: string; boardId: string },
    kills: readonly EventKill[],
  ) {
    this.#service = service
    this.#random = random
    this.#receiver = receiver
    this.#token = account.token
    this.#boardId = account.boardId
    this.#kills = kills
  }

  static async start(options: { seed: number; kills?: readonly EventKill[] }): Promise<EventRun> {
    const service = await ServiceProcess.make({
      SECRET_KEY: secretKey,
      EGRESS_ALLOW: '127.0.0.1/32',
      APP_EVENT_POLL_SECONDS: '1',
      WEBHOOK_RETRY_WAITS: '1,2,3,4,5',
    })
    const receiver = await openReceiver()
    try {
      service.launch()
      await service.ready()
      const account = await service.withDatabase((database) =>
        database.asSystem(async (tx) => {
          const email = 'events@example.test'
          const { userId, workspaceId } = await addUser(tx, { email, name: 'Events', tier: 'pro' })
          const scopes = ['read', 'write', 'delete'] as const
          const { token } = await mintToken(tx, { userId, name: 'events', scopes: [...scopes] })
          const [board] = await tx<{ id: string }[]>`
            insert into boards (workspace_id, name) values (${workspaceId}, 'Events') returning id`
          const id = crypto.randomUUID()
          const secret = openEncryption([secretKey], 'webhook secrets').seal('whsec_c2VjcmV0', id)
          await tx`
            insert into webhooks (id, workspace_id, created_by, url, events, secret)
            values (${id}, ${workspaceId}, ${userId}, ${receiver.url}, ${['card.created', 'board.updated']}, ${secret})`
          return { token, boardId: board!.id }
        }),
      )
      const run = new EventRun(
        service,
        new Random(options.seed),
        receiver,
        account,
        options.kills ?? (Object.keys(eventKills) as EventKill[]),
      )
      run.#readyAt.push(performance.now())
      return run
    } catch (error) {
      await service.remove()
      await receiver.close()
      throw error
    }
  }

  get output(): string {
    return this.#service.output
  }

  get figures(): { changes: number; received: number; repeated: number } {
    const ids = this.#receiver.received.map(({ deliveryId }) => deliveryId)
    return {
      changes: this.#changes.length,
      received: ids.length,
      repeated: ids.length - new Set(ids).size,
    }
  }

  /** Runs a round: starts writers, kills the process at a moment, and restarts it. `check` finds losses. */
  async round(): Promise<EventKill> {
    const kill = this.#kills[this.#rounds++ % this.#kills.length]!
    await this.#startWriters()
    await delay(this.#random.between(300, 1500))
    await this.#killAt(kill)
    if (kill === 'at the start') {
      this.#service.launch()
      await delay(this.#random.between(200, 2500))
      await this.#service.kill()
    }
    this.#receiver.answer = () => 200
    for (const response of this.#receiver.hanging.splice(0)) response.destroy()
    this.#service.launch()
    await this.#service.ready()
    this.#readyAt.push(performance.now())
    await delay(this.#random.between(0, 1000))
    await this.#stopWriters()
    return kill
  }

  /** Waits for pending deliveries. @returns one line for each fault */
  async check(): Promise<string[]> {
    const wanted = () => {
      const got = this.#byKey()
      return this.#changes.filter(({ key }) => !got.has(key))
    }
    for (let waitedMs = 0; wanted().length > 0 && waitedMs < withinMs + 5000; waitedMs += 250)
      await delay(250)
    await until(() => this.#outboxIsEmpty(), 'the queue is empty', withinMs).catch((error: unknown) =>
      this.#faults.push(String(error)),
    )
    const faults = this.#faults.splice(0)
    const got = this.#byKey()
    for (const { key, at } of this.#changes) {
      const events = got.get(key)
      if (!events) {
        faults.push(`no event of ${key}`)
        continue
      }
      const first = events[0]!
      const restart = this.#readyAt.filter((ready) => ready <= first.at).at(-1) ?? 0
      const tookMs = first.at - Math.max(at, restart)
      if (tookMs > withinMs) faults.push(`the event of ${key} took ${Math.round(tookMs)} ms`)
    }
    for (const [key, events] of got) {
      const ids = new Set(events.map(({ deliveryId }) => deliveryId))
      if (ids.size > 1) faults.push(`${key} is in ${ids.size} different events`)
    }
    const bytes = new Map<string, string>()
    for (const { deliveryId, raw } of this.#receiver.received) {
      if ((bytes.get(deliveryId) ?? raw.toString()) !== raw.toString())
        faults.push(`delivery ${deliveryId} changed`)
      bytes.set(deliveryId, raw.toString())
    }
    faults.push(...(await this.#invented(got)))
    return faults
  }

  async end(): Promise<void> {
    this.#stopped = true
    this.#editor?.leave()
    await Promise.allSettled(this.#writers)
    await this.#service.remove()
    await this.#receiver.close()
  }

  async #killAt(kill: EventKill): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    let killed = false
    const now = () => {
      if (killed) return // several may arrive at the same moment, and the kill must not hit the next process
      killed = true
      resolve(this.#service.kill())
    }
    switch (kill) {
      case 'after the answer':
        this.#onWritten = now
        break
      case 'after send':
        this.#receiver.answer = () => {
          now()
          return null
        }
        break
      case 'before the log':
        this.#receiver.answer = () => {
          setTimeout(now, this.#random.between(0, 3)) // the answer is on its way
          return 200
        }
        break
      case 'at random':
      case 'at the start':
        now()
    }
    await promise
    this.#onWritten = null
  }

  async #startWriters(): Promise<void> {
    this.#stopped = false
    this.#editor ??= await openEditor(this.#service.url, { boardId: this.#boardId, token: this.#token })
    this.#writers = [this.#write(), this.#write(), this.#write(), this.#rename(), this.#edit(this.#editor)]
  }

  async #stopWriters(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#writers)
    await this.#editor!.saved(30_000).catch((error: unknown) => this.#faults.push(String(error)))
  }

  async #write(): Promise<void> {
    while (!this.#stopped) {
      const count = this.#random.between(1, 4)
      const cards = Array.from({ length: count }, () => ({ kind: 'note', x: 0, y: 0 }))
      const answer = await this.#request('POST', `/boards/${this.#boardId}/cards`, { cards })
      for (const { id } of answer?.cards ?? []) this.#changed(id)
    }
  }

  async #rename(): Promise<void> {
    while (!this.#stopped) {
      const name = `change ${(this.#count += 1)}`
      const answer = await this.#request('PATCH', `/boards/${this.#boardId}`, { name })
      if (answer) this.#changed(name)
    }
  }

  /** Makes so few cards that an event names all of them. */
  async #edit(editor: Editor): Promise<void> {
    while (!this.#stopped) {
      const id = `e${(this.#count += 1)}`
      editor.addCard(id)
      await until(() => editor.provider.unsyncedChanges === 0 || this.#stopped, 'saved', 60_000)
      if (editor.provider.unsyncedChanges === 0) this.#changed(id)
      await delay(150)
    }
  }

  #changed(key: string): void {
    this.#changes.push({ key, at: performance.now() })
    this.#onWritten?.()
  }

  /** Returns null when it is unknown whether the request succeeded. */
  async #request(method: string, path: string, body: object): Promise<any> {
    try {
      const response = await fetch(`${this.#service.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(25_000),
      })
      const answer = await response.json()
      if (response.ok) return answer
      if (response.status !== 503) this.#faults.push(`${method} ${path} was answered ${response.status}`)
    } catch {
      await delay(20)
    }
    return null
  }

  /** Groups deliveries by every card id in card.created and every name in board.updated. */
  #byKey(): Map<string, Received[]> {
    const found = new Map<string, Received[]>()
    for (const received of this.#receiver.received) {
      const { type, data } = received.body
      const keys: string[] = type === 'card.created' ? data['card_ids'] : [data['name']]
      for (const key of keys) {
        const events = found.get(key)
        if (events) events.push(received)
        else found.set(key, [received])
      }
    }
    return found
  }

  #outboxIsEmpty(): Promise<boolean> {
    return this.#service.withDatabase((database) =>
      database.asSystem(async (tx) => {
        const [row] = await tx<{ left: number }[]>`
          select (
            (select count(*) from events)
            + (select count(*) from webhook_deliveries where status in ('waiting', 'sending'))
          )::integer as left`
        return row!.left === 0
      }),
    )
  }

  /** Returns events of cards that do not exist, and existing cards without an event. */
  async #invented(got: Map<string, Received[]>): Promise<string[]> {
    const rows = await this.#service.withDatabase((database) =>
      database.asSystem(
        (tx) => tx<{ id: string }[]>`select card_id as id from card_index where board_id = ${this.#boardId}`,
      ),
    )
    const cards = new Set(rows.map(({ id }) => id))
    return [
      ...[...got.keys()]
        .filter((key) => !titles.test(key) && !cards.has(key))
        .map((key) => `an event names ${key}, which does not exist`),
      ...[...cards].filter((id) => !got.has(id)).map((id) => `no event names the card ${id}`),
    ]
  }
}
