/**
 * The bytes that the sockets of one account, or of all sessions and guests of an owner, have not read and that take
 * memory here. A large buffer that several sockets send counts once. Above the bound the slowest reader is closed: a
 * socket alone may stay within its own bound, but hundreds of them would not.
 */

/** A socket, as its account counts it. */
export interface Reader {
  /** All that is unread, and what of it no other socket sends. */
  readonly unreadBytes: number
  readonly ownUnreadBytes: number
  /** For how long the client has been behind. */
  readonly behindMs: number
  closeAsSlow(): void
}

/** A socket with fewer unread bytes is not counted. So ordinary writes cost one comparison. */
export const countedBytes = 64 * 1024

export class Unread {
  readonly #maxBytes: number
  /** Own unread bytes of the sockets, when each of them was written to last. Since then they may have become fewer. */
  readonly #readers = new Map<Reader, number>()
  /** How many times each large buffer is unread. */
  readonly #large = new Map<Uint8Array, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /**
   * Counts a socket that was written to. Closes the slowest ones when the account has too much unread.
   *
   * @returns whether the socket is counted, and has to be counted again when it is written to next
   */
  wrote(reader: Reader): boolean {
    this.#count(reader)
    if (this.#bytes > this.#maxBytes) this.#closeSlowest()
    return this.#readers.has(reader)
  }

  #closeSlowest(): void {
    for (const one of [...this.#readers.keys()]) this.#count(one)
    while (this.#bytes > this.#maxBytes && this.#readers.size > 0) {
      const slowest = [...this.#readers.keys()].reduce((a, b) => (b.behindMs > a.behindMs ? b : a))
      this.leave(slowest)
      slowest.closeAsSlow()
    }
  }

  #count(reader: Reader): void {
    this.leave(reader)
    if (reader.unreadBytes <= countedBytes) return
    const bytes = reader.ownUnreadBytes
    this.#readers.set(reader, bytes)
    this.#bytes += bytes
  }

  leave(reader: Reader): void {
    this.#bytes -= this.#readers.get(reader) ?? 0
    this.#readers.delete(reader)
  }

  hold(large: Uint8Array): void {
    const times = this.#large.get(large) ?? 0
    if (times === 0) this.#bytes += large.byteLength
    this.#large.set(large, times + 1)
  }

  release(large: Uint8Array): void {
    const times = this.#large.get(large) ?? 0
    if (times > 1) this.#large.set(large, times - 1)
    else if (this.#large.delete(large)) this.#bytes -= large.byteLength
  }
}
