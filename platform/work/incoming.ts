/**
 * The bytes that the sockets of one account have sent and that take memory here: those of a frame that is not whole yet, of
 * a large frame until it is done, and of what is queued until a board is open. Each socket may send a frame of 8 MB, but
 * hundreds of them together may not.
 */

/** A socket with fewer bytes is not counted. Node reads as many at once. */
const countedBytes = 64 * 1024

/** What an account may send. */
export class Incoming {
  readonly #maxBytes: number
  readonly #shared: Incoming | undefined
  #bytes = 0

  /** @param shared that of the owner who pays, for a user of minted sessions and for a guest */
  constructor(maxBytes: number, shared?: Incoming) {
    this.#maxBytes = maxBytes
    this.#shared = shared
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  get isTooMuch(): boolean {
    return this.#bytes > this.#maxBytes || this.#shared?.isTooMuch === true
  }

  change(bytes: number): void {
    this.#bytes += bytes
    this.#shared?.change(bytes)
  }
}

/** What one socket has sent. */
export class IncomingOfSocket {
  #account: Incoming | null = null
  #unfinishedBytes = 0
  #heldBytes = 0
  #queuedBytes = 0
  #countedBytes = 0

  /** Counts for this account from now on: the one that authenticated last. */
  payFor(account: Incoming | null): void {
    if (account === this.#account) return
    this.#account?.change(-this.#countedBytes)
    this.#countedBytes = 0
    this.#account = account
    this.#count()
  }

  /** Counts bytes that came. @returns whether the account may send more */
  came(bytes: number): boolean {
    this.#unfinishedBytes += bytes
    return !this.#count() || this.#account?.isTooMuch !== true
  }

  get hasQueued(): boolean {
    return this.#queuedBytes > 0
  }

  /** Sets the bytes that are queued until a board is open. @returns whether the account may send more */
  queued(bytes: number): boolean {
    this.#queuedBytes = bytes
    return !this.#count() || this.#account?.isTooMuch !== true
  }

  /** A frame of so many bytes is whole. Call `done` when it takes no memory any more. */
  isWhole(bytes: number): void {
    this.#unfinishedBytes = 0
    if (bytes > countedBytes) this.#heldBytes += bytes
    this.#count()
  }

  done(bytes: number): void {
    if (bytes <= countedBytes) return
    this.#heldBytes -= bytes
    this.#count()
  }

  /** @returns whether more is counted than before */
  #count(): boolean {
    const bytes = this.#unfinishedBytes + this.#heldBytes + this.#queuedBytes
    const counted = bytes > countedBytes && this.#account ? bytes : 0
    const more = counted - this.#countedBytes
    this.#countedBytes = counted
    if (more !== 0) this.#account?.change(more)
    return more > 0
  }
}
