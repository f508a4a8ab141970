/**
 * Knows whether all of a document is durable: counts the changes that a socket has carried, and the acknowledgements that
 * came for them. (The provider's own count begins anew with each connection, and can reach 0 while changes that it has
 * queued are still on their way.)
 */
import type * as Y from 'yjs'

export type SocketClass = new (url: string) => object
type DomSocketClass = new (url: string) => WebSocket

/** Messages of the Hocuspocus protocol. */
const sync = 0
const token = 2
const syncStatus = 8
/** Of a sync message: everything that the service lacks, and one change. */
const step2 = 1
const update = 2

export class Acknowledgements {
  readonly #typeAt: number
  readonly #onChange: () => void
  #socket: WebSocket | null = null
  /** Changes that this socket has carried, and how many of them the service has answered. Answers come in order. */
  #sent = 0
  #answered = 0
  /**
   * The first change since which this socket has carried everything that the service lacks. 0: no such change. It ends
   * when a later change is refused, or can't be sent.
   */
  #wholeFrom = 0
  /** Whether this socket has carried the token. */
  #isNamed = false
  #saved = true

  /** @param name of the document, in ASCII: each message begins with its length, in one byte, and the name */
  constructor(name: string, onChange: () => void) {
    this.#typeAt = name.length + 1
    this.#onChange = onChange
  }

  /** Whether everything in the document is acknowledged, and so durable. */
  get saved(): boolean {
    return this.#saved
  }

  /** Watches a document. @param provider the origin of changes that come from the service */
  watch(document: Y.Doc, provider: () => unknown): void {
    document.on('update', (_update: Uint8Array, origin: unknown) => {
      if (origin === provider()) return
      if (this.#socket?.readyState !== 1) this.#wholeFrom = 0
      this.#setSaved(false)
    })
  }

  /**
   * @returns a class of sockets that are counted. They carry no changes before the token: the service takes little then,
   * and what it lacks is sent when it asks
   */
  counted(Base: SocketClass): SocketClass {
    const isEarly = (data: unknown) => this.#isEarly(data)
    const carried = (socket: WebSocket, data: unknown) => this.#carried(socket, data)
    const opened = (socket: WebSocket) => this.#opened(socket)
    return class extends (Base as DomSocketClass) {
      constructor(url: string) {
        super(url)
        opened(this)
      }

      override send(data: Parameters<WebSocket['send']>[0]): void {
        if (isEarly(data)) return
        super.send(data)
        carried(this, data)
      }
    }
  }

  #opened(socket: WebSocket): void {
    this.#socket = socket
    this.#sent = this.#answered = this.#wholeFrom = 0
    this.#isNamed = false
    socket.addEventListener('message', ({ data }: MessageEvent) => {
      const bytes = new Uint8Array(data as ArrayBuffer)
      if (socket !== this.#socket || bytes[this.#typeAt] !== syncStatus) return
      const isAccepted = bytes[this.#typeAt + 1] === 1
      this.#answered += 1
      if (!isAccepted && this.#answered >= this.#wholeFrom) this.#wholeFrom = 0
      if (this.#wholeFrom > 0 && this.#answered === this.#sent) this.#setSaved(true)
    })
  }

  #isEarly(data: unknown): boolean {
    const type = (data as Uint8Array)[this.#typeAt]
    this.#isNamed ||= type === token
    return type === sync && !this.#isNamed
  }

  #carried(socket: WebSocket, data: unknown): void {
    const bytes = data as Uint8Array
    const kind = bytes[this.#typeAt + 1]
    if (socket !== this.#socket || bytes[this.#typeAt] !== sync || (kind !== step2 && kind !== update)) return
    this.#sent += 1
    if (kind === step2) this.#wholeFrom = this.#sent
  }

  #setSaved(saved: boolean): void {
    if (this.#saved === saved) return
    this.#saved = saved
    this.#onChange()
  }
}
