/** One run of an attack, in the attacker's process. It sends requests and frames, and counts the answers. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import * as decoding from 'lib0/decoding'
import { Agent, request } from 'undici'
import { enter, type as frameType, updateFrame } from '../support/raw-client.ts'
import type { Scene } from './scene.ts'

/** A request without an answer for this long counts as unanswered. */
export const answerTimeoutMs = 20_000
/** Costly updates of an account are applied in its share of the time, so their answer may come late. */
const pacedTimeoutMs = 60_000

/** Value in an authentication frame. */
const denied = 1

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface RequestOptions {
  token?: string
  headers?: Record<string, string>
}

export type EditorSocket = Awaited<ReturnType<typeof enter>>

export class Attempt {
  readonly scene: Scene
  /** True: use smaller inputs. */
  readonly short: boolean
  /** Number of each answer. */
  readonly answers: Record<string, number> = {}
  #isMeasured = false
  #requests = 0
  readonly #agent = new Agent({
    connections: null,
    pipelining: 1,
    headersTimeout: answerTimeoutMs,
    bodyTimeout: answerTimeoutMs,
  })

  constructor(scene: Scene, options: { short: boolean }) {
    this.scene = scene
    this.short = options.short
  }

  /** Returns a size, which is smaller in the short form. */
  size(full: number, short: number): number {
    return this.short ? short : full
  }

  get boardId(): string {
    return this.scene.attacker.boardId
  }

  /** Starts to count answers. */
  measured(): void {
    this.#isMeasured = true
  }

  answered(answer: string): void {
    if (this.#isMeasured) this.answers[answer] = (this.answers[answer] ?? 0) + 1
  }

  /** Sends a request of the attacker, with one of its tokens in turn, and counts its answer. */
  async send(
    method: Method,
    path: string,
    body: string | Buffer | null = null,
    { token, headers = {} }: RequestOptions = {},
  ): Promise<{ status: number; text: string }> {
    const { tokens } = this.scene.attacker
    try {
      const response = await request(`${this.scene.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token ?? tokens[(this.#requests += 1) % tokens.length]}`,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body,
        dispatcher: this.#agent,
      })
      const text = await response.body.text()
      this.answered(describeAnswer(response.statusCode, text, response.headers['retry-after']))
      return { status: response.statusCode, text }
    } catch (error) {
      this.answered(describeFailure(error as Error))
      return { status: 0, text: '' }
    }
  }

  /** Sends a request of the preparation. @throws unless it succeeds */
  async make(method: Method, path: string, body: object | Buffer | null = null, headers = {}): Promise<any> {
    const bytes = body === null || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const { status, text } = await this.send(method, path, bytes, { headers })
    if (status === 0 || status >= 300)
      throw new Error(`${method} ${path} was answered ${status} ${text.slice(0, 200)}`)
    return JSON.parse(text)
  }

  /** Calls a function `count` times concurrently, each time with another number. */
  async times(count: number, one: (n: number) => Promise<unknown>, atOnce = count): Promise<void> {
    let next = 0
    const worker = async () => {
      while (next < count) await one(next++)
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
  }

  /** Opens a board on a socket of the attacker, or of another account. */
  async enter(
    token = this.scene.attacker.tokens[0]!,
    boardId = this.boardId,
    session?: string,
  ): Promise<EditorSocket> {
    return enter(this.scene.url, { boardId, token, ...(session === undefined ? {} : { session }) })
  }

  /**
   * Sends frames on a socket. Counts the acknowledged updates, or the code with which the socket was closed.
   */
  async frames(socket: EditorSocket, frames: Uint8Array[]): Promise<void> {
    const before = socket.acknowledgements.length
    for (const frame of frames) {
      if (socket.closed) break
      socket.send(frame)
      if (socket.socket.bufferedAmount > 16 * 1024 * 1024) await delay(5)
    }
    await this.acknowledged(socket, before + frames.length)
  }

  async updates(socket: EditorSocket, updates: Uint8Array[]): Promise<void> {
    await this.frames(
      socket,
      updates.map((update) => updateFrame(socket.address, update)),
    )
  }

  /** Waits for acknowledgements, or for the close. */
  async acknowledged(socket: EditorSocket, count: number): Promise<void> {
    const deadline = performance.now() + pacedTimeoutMs
    while (socket.acknowledgements.length < count && !socket.closed && performance.now() < deadline)
      await delay(20)
    this.#closedOr(socket, () => {
      const refused = socket.acknowledgements.filter((done) => !done).length
      if (refused > 0) return 'not acknowledged: read-only'
      return socket.acknowledgements.length >= count ? 'acknowledged' : noAnswer
    })
  }

  /** Waits until the service has read everything that was sent. */
  async drained(socket: EditorSocket): Promise<void> {
    const deadline = performance.now() + answerTimeoutMs
    while (socket.socket.bufferedAmount > 0 && !socket.closed && performance.now() < deadline) await delay(20)
  }

  /** Counts a socket that expects no answer as open or as closed with its code. */
  stillThere(socket: EditorSocket): void {
    this.#closedOr(socket, () => (socket.denials.length > 0 ? `denied: ${socket.denials.join()}` : 'open'))
  }

  /** Discards received frames, because a flooding client does not read. */
  deafen(socket: EditorSocket): void {
    socket.socket.removeAllListeners('message')
    socket.socket.on('message', () => undefined)
  }

  /** Counts the boards that a socket is denied. Ignores other frames. */
  hearRefusals({ socket }: Pick<EditorSocket, 'socket'>): void {
    socket.removeAllListeners('message')
    socket.on('message', (data: Buffer) => {
      const decoder = decoding.createDecoder(new Uint8Array(data))
      decoding.readVarString(decoder)
      if (decoding.readVarUint(decoder) !== frameType.auth || decoding.readVarUint(decoder) !== denied) return
      this.answered(`denied: ${decoding.readVarString(decoder)}`)
    })
  }

  /** Sends bytes on a new connection, and counts the first line of the answer. */
  async raw(): Promise<Socket> {
    const { hostname, port } = new URL(this.scene.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  /** Makes cards as an editor, to whom no card cap applies, in small steps. */
  async editorCards(
    count: number,
    fields: (n: number) => Record<string, string | number>,
    boardId = this.boardId,
  ): Promise<string[]> {
    const { cardUpdates } = await import('./attacks/updates.ts')
    const socket = await this.enter(undefined, boardId)
    const made = cardUpdates(count, fields)
    for (const update of made.updates) {
      const before = socket.acknowledgements.length
      socket.update(update)
      const deadline = performance.now() + answerTimeoutMs
      while (socket.acknowledgements.length === before) {
        if (socket.closed || performance.now() > deadline)
          throw new Error(`an editor's cards were not accepted: ${JSON.stringify(socket.closed)}`)
        await delay(5)
      }
    }
    socket.socket.terminate()
    return made.ids
  }

  async newBoard(name = 'Another'): Promise<string> {
    const { board } = await this.make('POST', '/boards', { name })
    return board.id
  }

  #closedOr(socket: EditorSocket, otherwise: () => string): void {
    const { closed } = socket
    this.answered(closed ? `close ${closed.code} ${closed.reason}`.trimEnd() : otherwise())
  }
}

export const noAnswer = `no answer in ${answerTimeoutMs / 1000} s`

/** Returns the status and the code of an error or a JSON-RPC error. */
export function describeAnswer(status: number, text: string, retryAfter?: unknown): string {
  if (status < 400) return String(status)
  const wait = retryAfter === undefined ? '' : ', retry-after'
  try {
    const { code, error } = JSON.parse(text) as { code?: unknown; error?: unknown }
    if (typeof code === 'string' && typeof error === 'string') return `${status} ${code}${wait}`
    if (typeof error === 'object' && error !== null && 'message' in error) return `${status} rpc error`
  } catch {
    // An answer that is not JSON is not clear.
  }
  return `${status} without a code`
}

function describeFailure(error: Error & { code?: string }): string {
  if (/TIMEOUT/.test(error.code ?? '')) return noAnswer
  return `no answer: ${error.code ?? error.message}`
}
