/**
 * Broadcasts of one board to its sockets. Each one is a write to every socket. So a board with many sockets gathers edits
 * for longer, and whoever edits it is charged for the time. Nothing of this concerns a board with up to 100 sockets.
 */
import { OutgoingMessage, type Connection, type Document } from '@hocuspocus/server'

/** How long a broadcast of an ordinary board may wait for more edits. */
export const broadcastWindowMs = 4
const ordinarySockets = 100
/** The largest share of main-thread time for the broadcasts of all boards with more sockets. */
const broadcastShare = 0.3
/** The longest that boards wait for each other. */
const longestWindowMs = 100
/** The cost of sending a frame to one socket: a write, and a copy of its bytes. Measured on Linux. */
const sendMs = 0.012
const sendMsPerByte = 3e-7
/** Sends to this many sockets are part of the edit's own cost. */
const freeSockets = 50

/** The part of a connection's socket that this folder uses. The gateway passes the socket to Hocuspocus. */
export interface Canvas {
  /**
   * For how long the socket has had more unread bytes than a small limit, or has been closing; 0 when it is up to date.
   */
  readonly behindMs: number
  /** Sends a frame of a broadcast. */
  sendAtOnce(frame: Uint8Array): void
}

/** What Hocuspocus has gathered for its next broadcast, and what sends it. Its types omit them. */
interface Broadcasting {
  readonly pendingUpdates: readonly Uint8Array[]
  readonly pendingUpdateBytes: number
  broadcastUpdate(update: Uint8Array): void
  /** Calls `flush` after `flushDelay`, if nothing else does before. */
  scheduleFlush(): void
}

/** When the share is used up by what was sent before. So boards take turns, and don't send in one turn of the event loop. */
let shareUsedUntil = 0

export class FanOut {
  readonly #document: Document
  readonly #gathered: Broadcasting
  #sentAt = 0
  #windowMs = broadcastWindowMs
  /** The accounts whose edits are in the next broadcast. */
  #authors = new Set<string>()
  /** The connection that sent the first updates of the next broadcast, and their number. */
  #sender: Connection | null = null
  #ofSender = 0
  /** The connection that has everything of the broadcast that is being sent; null: none has. */
  #hasAll: Connection | null = null
  /** Milliseconds that are not charged yet, by account. */
  #charges = new Map<string, number>()
  #onSent: (() => void)[] = []
  readonly #schedule: () => void
  /** Whether `broadcast` follows, so that no timer is needed. */
  #isBroadcastNext = false

  constructor(document: Document) {
    this.#document = document
    this.#gathered = document as unknown as Broadcasting
    this.#gathered.broadcastUpdate = (update) => this.#broadcast(update)
    this.#schedule = this.#gathered.scheduleFlush.bind(document)
    this.#gathered.scheduleFlush = () => {
      if (!this.#isBroadcastNext) this.#schedule()
    }
    const flush = document.flush.bind(document)
    document.flush = () => {
      const { pendingUpdateBytes: bytes, pendingUpdates } = this.#gathered
      if (bytes > 0) this.#sends(bytes)
      this.#hasAll = this.#ofSender === pendingUpdates.length ? this.#sender : null
      this.#sender = null
      this.#ofSender = 0
      flush()
      this.#hasAll = null
      this.#sent()
      return document
    }
  }

  /**
   * Records who made an edit that is to be broadcast.
   *
   * @param sender the only connection that sent it; undefined when there are several, or none
   */
  wrote(accounts: readonly string[], update: Uint8Array, sender: Connection | undefined): void {
    for (const account of accounts) this.#authors.add(account)
    const { pendingUpdates } = this.#gathered
    if (!sender || pendingUpdates.at(-1) !== update) return // a large one has been broadcast already
    if (this.#ofSender === 0) this.#sender = sender
    if (this.#sender === sender) this.#ofSender += 1
  }

  /**
   * Runs `edit`, after which the caller calls `broadcast`. A timer that is set and cleared for each edit would wake the
   * process once more: Node only notices that it was cleared when it is due.
   */
  beforeBroadcast(edit: () => void): void {
    this.#isBroadcastNext = true
    try {
      edit()
    } finally {
      this.#isBroadcastNext = false
    }
  }

  /** Broadcasts now, if the window of the last broadcast is over, else when it is. */
  broadcast(): void {
    if (this.#gathered.pendingUpdates.length === 0) return
    if (performance.now() - this.#sentAt >= this.#windowMs) this.#document.flush()
    else this.#schedule()
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
    if (this.isSlow && this.#gathered.pendingUpdateBytes > 0) this.#onSent.push(then)
    else then()
  }

  /** Returns what the broadcasts since the last call cost each account, in milliseconds. */
  takeCharges(): ReadonlyMap<string, number> {
    const charges = this.#charges
    if (charges.size > 0) this.#charges = new Map()
    return charges
  }

  /** Sends an update to all connections but the one that has it: an editor need not read its own edits. */
  #broadcast(update: Uint8Array): void {
    let address: string | null = null
    let frame = update
    for (const connection of this.#document.connections.keys()) {
      if (connection === this.#hasAll) continue
      const { messageAddress } = connection
      if (messageAddress !== address) {
        address = messageAddress
        frame = new OutgoingMessage(address).createSyncMessage().writeUpdate(update).toUint8Array()
      }
      const canvas = connection.webSocket as unknown as Canvas
      canvas.sendAtOnce(frame)
    }
  }

  #sends(bytes: number): void {
    const sockets = this.#document.connections.size
    const socketMs = sendMs + bytes * sendMsPerByte
    const now = performance.now()
    this.#sentAt = now
    this.#windowMs = broadcastWindowMs
    if (sockets > ordinarySockets) {
      const ownMs = (sockets * socketMs) / broadcastShare
      const waitMs = Math.max(0, shareUsedUntil - now) + ownMs
      this.#windowMs = Math.max(broadcastWindowMs, Math.min(waitMs, Math.max(ownMs, longestWindowMs)))
      shareUsedUntil = now + this.#windowMs
    }
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
