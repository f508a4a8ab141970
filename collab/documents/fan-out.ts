/**
 * Broadcasts of one board to its sockets. Each one is a write to every socket. So a board with many sockets gathers edits
 * for longer, and whoever edits it is charged for the time. Nothing of this concerns a board with up to 100 sockets.
 */
import type { Document } from '@hocuspocus/server'

/** How long a broadcast of an ordinary board may wait for more edits. */
export const broadcastWindowMs = 4
const ordinarySockets = 100
/** The largest share of main-thread time for the broadcasts of one board. */
const broadcastShare = 0.3
/** The cost of sending a frame to one socket: a write, and a copy of its bytes. Measured on Linux. */
const sendMs = 0.012
const sendMsPerByte = 3e-7
/** Sends to this many sockets are part of the edit's own cost. */
const freeSockets = 50

/** The bytes that Hocuspocus has gathered for its next broadcast. */
const gatheredBytes = (document: Document): number =>
  (document as unknown as { pendingUpdateBytes: number }).pendingUpdateBytes

export class FanOut {
  readonly #document: Document
  #sentAt = 0
  #windowMs = broadcastWindowMs
  /** The accounts whose edits are in the next broadcast. */
  #authors = new Set<string>()
  /** Milliseconds that are not charged yet, by account. */
  #charges = new Map<string, number>()
  #onSent: (() => void)[] = []

  constructor(document: Document) {
    this.#document = document
    const flush = document.flush.bind(document)
    document.flush = () => {
      const bytes = gatheredBytes(document)
      if (bytes > 0) this.#sends(bytes)
      flush()
      this.#sent()
      return document
    }
  }

  /** Records who made an edit that is to be broadcast. */
  wrote(accounts: readonly string[]): void {
    for (const account of accounts) this.#authors.add(account)
  }

  /** Whether the window of the last broadcast is over. */
  get isDue(): boolean {
    return performance.now() - this.#sentAt >= this.#windowMs
  }

  /** Whether broadcasts wait for longer than those of an ordinary board. */
  get isSlow(): boolean {
    return this.#windowMs > broadcastWindowMs
  }

  /**
   * Calls `then` when all edits so far have been broadcast, for acknowledgements: they come with the broadcast or after
   * it. On an ordinary board they don't wait for the few milliseconds.
   */
  afterSending(then: () => void): void {
    if (this.isSlow && gatheredBytes(this.#document) > 0) this.#onSent.push(then)
    else then()
  }

  /** Returns what the broadcasts since the last call cost each account, in milliseconds. */
  takeCharges(): ReadonlyMap<string, number> {
    const charges = this.#charges
    if (charges.size > 0) this.#charges = new Map()
    return charges
  }

  #sends(bytes: number): void {
    const sockets = this.#document.connections.size
    const socketMs = sendMs + bytes * sendMsPerByte
    this.#sentAt = performance.now()
    this.#windowMs =
      sockets > ordinarySockets
        ? Math.max(broadcastWindowMs, (sockets * socketMs) / broadcastShare)
        : broadcastWindowMs
    this.#document.flushDelay = this.#windowMs
    const chargedMs = Math.max(0, sockets - freeSockets) * socketMs
    if (chargedMs > 0)
      for (const account of this.#authors)
        this.#charges.set(account, (this.#charges.get(account) ?? 0) + chargedMs / this.#authors.size)
    this.#authors.clear()
  }

  #sent(): void {
    if (this.#onSent.length === 0) return
    const waiting = this.#onSent
    this.#onSent = []
    for (const then of waiting) then()
  }
}
