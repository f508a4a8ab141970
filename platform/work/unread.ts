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
/** Sockets are closed until this share of the bound is left. */
const shareLeft = 7 / 8

export class Unread {
  readonly #maxBytes: number
  /** Own unread bytes of the sockets, when each of them was written to last. Since then they may have become fewer. */
  readonly #readers = new Map<Reader, number>()
  /** How many times each large buffer is unread. */
  readonly #large = new Map<Uint8Array, number>()
  #bytes = 0
  /** The largest of them since the last moment when none was unread. */
  #largest = 0

  /** @param maxBytes most bytes besides the largest buffer: a board may exceed the bound, and is sent in one buffer */
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
    if (this.#bytes > this.#maxBytes + this.#largest) this.#closeSlowest()
    return this.#readers.has(reader)
  }

  /** Leaves some room. Otherwise each of the next writes would count all sockets again. */
  #closeSlowest(): void {
    for (const one of [...this.#readers.keys()]) this.#count(one)
    const behind = [...this.#readers.keys()].map((reader) => ({ reader, behindMs: reader.behindMs }))
    for (const { reader } of behind.sort((a, b) => b.behindMs - a.behindMs)) {
      if (this.#bytes <= this.#maxBytes * shareLeft + this.#largest) return
      this.leave(reader)
      reader.closeAsSlow()
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
    this.#largest = Math.max(this.#largest, large.byteLength)
  }

  release(large: Uint8Array): void {
    const times = this.#large.get(large) ?? 0
    if (times > 1) this.#large.set(large, times - 1)
    else if (this.#large.delete(large)) this.#bytes -= large.byteLength
    if (this.#large.size === 0) this.#largest = 0
  }
}
