/**
 * An editor's socket, wrapped for Hocuspocus. It holds acknowledgements (SyncStatus frames) until the document's queued
 * edits are committed. Other frames pass at once. All frames of one turn of the event loop are sent in one write.
 */
import type { Duplex } from 'node:stream'
import * as ws from 'ws'
import { closeCodes } from '../../core/errors.ts'
import { countedBytes, type Reader, type Unread } from '../../platform/work/unread.ts'
import type { EditBacklog } from '../commit/edit-backlog.ts'
import { temporaryRefusal } from '../documents/refusals.ts'
import type { Canvas } from '../documents/fan-out.ts'
import { flushSoon, sharedBytes, type Flushable } from './flush.ts'
import { refusalReason, syncStatusAddress, syncStatusFrame } from './protocol.ts'

interface Held {
  frame: Uint8Array
  edits: EditBacklog
  /** The position up to which `edits` must be committed. */
  mark: number
  /**
   * The number of equal frames with the same condition. Counting them saves memory when many updates change nothing.
   */
  times: number
}

function addHeld(queue: Held[], held: Held): void {
  const last = queue.at(-1)!
  if (last.frame === held.frame && last.mark === held.mark && last.edits === held.edits) last.times += 1
  else queue.push(held)
}

export interface SocketBounds {
  /** Unread bytes above which the socket is closed as too slow. */
  maxUnreadBytes: number
  /** Unread bytes above which this canvas does not count as up to date. */
  maxLiveUnreadBytes: number
  /** A socket is closed when its client has read nothing for this long, although there is something to read. */
  maxStalledMs: number
}

/** Called with each SyncStatus frame. Returns the commit that the frame has to wait for; null: don't send the frame. */
export type Acknowledge = (
  socket: EditorSocket,
  address: string,
) => { edits: EditBacklog; mark: number } | null

export class EditorSocket implements Canvas, Reader, Flushable {
  readonly #socket: ws.WebSocket
  readonly #stream: Duplex
  readonly #bounds: SocketBounds
  readonly #acknowledge: Acknowledge
  /**
   * Held frames by address, first in, first out. Each board has its own queue, so a slow board does not delay the
   * others. Null as long as none was ever held: most sockets only read, and an empty map takes 200 bytes.
   */
  #held: Map<string, Held[]> | null = null
  /** What is sent at the end of this tick; much of it later, see flush.ts. */
  #outgoing: Buffer[] = []
  #outgoingBytes = 0
  #largest = 0
  /** Unread buffers that other sockets may send, too, with how many times each of them is unread here. Null for none. */
  #large: Map<Uint8Array, number> | null = null
  #largeBytes = 0
  #writtenBytes = 0
  /** What the client had read when it was last seen to read, and when that was. */
  #progress = { takenBytes: 0, queuedBytes: 0, at: 0 }
  /** The unread bytes of its account. Null before the client has authenticated. */
  #unread: Unread | null = null
  #isCounted = false
  /** The time of the last frame that was sent. */
  sentAt = Date.now()
  /** When the client had last read all but `maxLiveUnreadBytes`. */
  #readAt = 0
  /** When the service began to close the socket; 0 before that. */
  #closingSince = 0
  /** The code with which the service closed the socket first; null when it did not. */
  closedWith: number | null = null
  readonly #tooSlow: (socket: EditorSocket) => void
  readonly #closing: () => void
  /** By address. Null before the first. */
  #acknowledgements: Map<string, Uint8Array> | null = null

  constructor(
    socket: ws.WebSocket,
    stream: Duplex,
    bounds: SocketBounds,
    handlers: {
      acknowledge: Acknowledge
      /** Called when the service begins to close the socket. */
      closing: () => void
      /** Called when the socket is closed because it reads too slowly. */
      tooSlow(socket: EditorSocket): void
    },
  ) {
    this.#socket = socket
    this.#stream = stream
    this.#bounds = bounds
    this.#acknowledge = handlers.acknowledge
    this.#closing = handlers.closing
    this.#tooSlow = handlers.tooSlow
  }

  /** Sent bytes that the client has not read, as far as this process still holds them. */
  get unreadBytes(): number {
    return this.#outgoingBytes + this.#stream.writableLength
  }

  get outgoingBytes(): number {
    return this.#outgoingBytes
  }

  get ownUnreadBytes(): number {
    return this.unreadBytes - this.#largeBytes
  }

  /** Counts what is unread for an account: the one that authenticated last, as its rates are in use. */
  payFor(unread: Unread): void {
    if (unread === this.#unread) return
    this.#stopPaying()
    for (const [large, times] of this.#large ?? [])
      for (let time = 0; time < times; time++) unread.hold(large)
    this.#unread = unread
    this.#isCounted = this.#unread.wrote(this)
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  send(frame: Uint8Array): void {
    const address = syncStatusAddress(frame)
    // A provider treats a refusal as final, but reconnects after a close.
    if (refusalReason(frame) === temporaryRefusal) {
      this.close(closeCodes.tryLater.code, closeCodes.tryLater.reason)
      return
    }
    if (address === null) {
      this.#write(frame)
      return
    }
    const wait = this.#acknowledge(this, address)
    if (wait) this.#hold(address, { frame, ...wait, times: 1 })
  }

  /** Sends a frame that waits for no commit and refuses nothing: a broadcast, or a SyncStatus that need not wait. */
  sendAtOnce(frame: Uint8Array): void {
    this.#write(frame)
  }

  /** Sends a frame in two parts. The second one may be large, and is not copied: other sockets send it, too. */
  sendShared(head: Uint8Array, body: Uint8Array): void {
    if (body.byteLength < sharedBytes) this.#write(Buffer.concat([head, body]))
    else if (this.#mayWrite()) {
      this.#enqueue(encode(head, opcode.binary, { fin: false }))
      for (const part of fragments(body, opcode.continuation, { fin: true })) this.#enqueue(part)
    }
  }

  /**
   * For how long more than `maxLiveUnreadBytes` have been unread, or the service has been closing the socket; 0 when the
   * client is up to date.
   */
  get behindMs(): number {
    if (this.#closingSince > 0) return Math.max(1, Date.now() - this.#closingSince)
    return this.#isRead ? 0 : Math.max(1, Date.now() - this.#readAt)
  }

  get #isRead(): boolean {
    return this.unreadBytes <= this.#bounds.maxLiveUnreadBytes
  }

  /** Answers a ping. Unread answers count as unread bytes, too. */
  pong(data: Buffer): void {
    if (!this.#closeIfSlow(this.unreadBytes)) this.#enqueue(encode(data, opcode.pong))
  }

  /** Acknowledges an update, once its board's edits are committed up to `mark`. */
  acknowledge(address: string, edits: EditBacklog, mark: number): void {
    const frames = (this.#acknowledgements ??= new Map())
    const frame = frames.getOrInsertComputed(address, () => syncStatusFrame(address, true))
    this.#hold(address, { frame, edits, mark, times: 1 })
  }

  #hold(address: string, held: Held): void {
    if (this.#socket.readyState !== ws.WebSocket.OPEN) return
    const earlier = this.#held?.get(address)
    if (earlier) addHeld(earlier, held)
    else if (held.edits.hasCommitted(held.mark)) this.#write(held.frame)
    else {
      ;(this.#held ??= new Map()).set(address, [held])
      held.edits.onCommitted(this.release)
    }
  }

  close(code?: number, reason?: string): void {
    this.#beginClosing()
    this.closedWith ??= code ?? null
    this.#held = null
    this.flush()
    this.#socket.close(code, reason)
  }

  #beginClosing(): void {
    if (this.#closingSince > 0) return
    this.#closingSince = Date.now()
    this.#closing()
  }

  /** Ends the socket without waiting for the client's close frame. */
  terminate(): void {
    this.#socket.terminate()
  }

  /** Drops the held frames of a board that is no longer open on this socket. */
  forget(address: string): void {
    this.#held?.delete(address)
    this.#acknowledgements?.delete(address)
  }

  /** Sends the held frames whose edits are committed by now. */
  readonly release = (): void => {
    for (const [address, queue] of this.#held ?? []) {
      let done = 0
      while (done < queue.length && queue[done]!.edits.hasCommitted(queue[done]!.mark)) {
        const { frame, times } = queue[done++]!
        for (let time = 0; time < times; time++) this.#write(frame)
      }
      if (done === queue.length) this.#held?.delete(address)
      else {
        queue.splice(0, done)
        queue[0]!.edits.onCommitted(this.release)
      }
    }
  }

  #write(frame: Uint8Array): void {
    if (this.#mayWrite()) this.#enqueue(webSocketFrame(frame))
  }

  #mayWrite(): boolean {
    const unread = this.unreadBytes
    if (this.#closeIfSlow(unread)) return false
    this.sentAt = Date.now()
    if (unread <= this.#bounds.maxLiveUnreadBytes) this.#readAt = this.sentAt
    return true
  }

  #enqueue(bytes: Buffer): void {
    const { byteLength } = bytes
    if (byteLength >= sharedBytes) this.#holdLarge(bytes)
    if (this.#outgoing.length === 0) flushSoon(this)
    this.#outgoing.push(bytes)
    this.#outgoingBytes += byteLength
    if (byteLength > this.#largest) this.#largest = byteLength
  }

  /**
   * Closes a socket that reads too slowly. The bound excludes the largest unread frame: a board may exceed the bound,
   * and is sent in one frame.
   */
  #closeIfSlow(unread: number): boolean {
    if (this.#socket.readyState !== ws.WebSocket.OPEN) return true
    if (unread === 0) this.#largest = 0
    if (unread <= this.#bounds.maxUnreadBytes + this.#largest) return false
    this.closeAsSlow()
    return true
  }

  /** Closes the socket when its client has read nothing for `maxStalledMs`. */
  closeIfStalled(now: number): void {
    const takenBytes = this.#writtenBytes - this.#stream.writableLength
    // A large write is one write for Node, however much of it the client has read. So the handle is asked, too.
    const { _handle: handle } = this.#stream as { _handle?: { writeQueueSize?: number } | null }
    const queuedBytes = handle?.writeQueueSize ?? 0
    const { takenBytes: before, queuedBytes: queuedBefore, at } = this.#progress
    if (this.unreadBytes === 0 || takenBytes > before || queuedBytes !== queuedBefore)
      this.#progress = { takenBytes, queuedBytes, at: now }
    else if (now - at >= this.#bounds.maxStalledMs && this.#socket.readyState === ws.WebSocket.OPEN)
      this.closeAsSlow()
  }

  closeAsSlow(): void {
    this.#beginClosing()
    this.#held = null
    this.#outgoing = []
    this.#outgoingBytes = 0
    this.#tooSlow(this)
    this.closedWith ??= closeCodes.tooSlow.code
    this.#socket.close(closeCodes.tooSlow.code, closeCodes.tooSlow.reason)
    this.#socket.terminate() // the close frame would wait behind the unread data
    this.gone()
  }

  /** Called when the socket has ended: its bytes take no more memory. */
  gone(): void {
    this.#stopPaying()
    this.#large = null
    this.#largeBytes = 0
  }

  #stopPaying(): void {
    for (const [large, times] of this.#large ?? [])
      for (let time = 0; time < times; time++) this.#unread?.release(large)
    this.#unread?.leave(this)
    this.#unread = null
  }

  #holdLarge(large: Uint8Array): void {
    if (!this.#unread) return
    this.#large ??= new Map()
    this.#large.set(large, (this.#large.get(large) ?? 0) + 1)
    this.#largeBytes += large.byteLength
    this.#unread.hold(large)
  }

  #releaseLarge(large: Uint8Array): void {
    const times = this.#large?.get(large) ?? 0
    if (!this.#large || times === 0) return // the socket has ended
    if (times > 1) this.#large.set(large, times - 1)
    else this.#large.delete(large)
    this.#largeBytes -= large.byteLength
    this.#unread?.release(large)
  }

  #writeOut(part: Buffer): void {
    this.#writtenBytes += part.byteLength
    if (part.byteLength >= sharedBytes && this.#large?.has(part))
      this.#stream.write(part, () => this.#releaseLarge(part))
    else this.#stream.write(part)
  }

  flush(): void {
    const outgoing = this.#outgoing
    this.#outgoing = []
    this.#outgoingBytes = 0
    if (outgoing.length === 0 || this.#socket.readyState !== ws.WebSocket.OPEN) return
    const [first] = outgoing
    if (outgoing.length === 1) this.#writeOut(first!)
    else {
      this.#stream.cork()
      for (const part of joined(outgoing)) this.#writeOut(part)
      this.#stream.uncork()
    }
    if (this.#unread && (this.#isCounted || this.unreadBytes > countedBytes))
      this.#isCounted = this.#unread.wrote(this)
  }
}

/** Joins small buffers that follow each other, since each one that is written costs some time. */
function joined(buffers: Buffer[]): Buffer[] {
  if (buffers.length < 2) return buffers
  if (buffers.every(({ byteLength }) => byteLength < sharedBytes)) return [Buffer.concat(buffers)]
  const at = buffers.findIndex(({ byteLength }) => byteLength >= sharedBytes)
  const before = at > 0 ? [Buffer.concat(buffers.slice(0, at))] : []
  return [...before, buffers[at]!, ...joined(buffers.slice(at + 1))]
}

// The types of ws omit `Sender`.
const { Sender } = ws as unknown as {
  Sender: {
    frame(
      data: Uint8Array,
      options: { fin: boolean; opcode: number; mask: false; readOnly: true; rsv1: false },
    ): Buffer[]
  }
}
/** WebSocket opcodes; RFC 6455, section 5.2. */
const opcode = { continuation: 0, binary: 2, pong: 10 } as const

/** Returns the header and `data` itself. */
const fragments = (data: Uint8Array, opcode: number, { fin }: { fin: boolean }): Buffer[] =>
  Sender.frame(data, { fin, opcode, mask: false, readOnly: true, rsv1: false })

const encode = (data: Uint8Array, opcode: number, { fin } = { fin: true }): Buffer =>
  Buffer.concat(fragments(data, opcode, { fin }))

let lastFrame: Uint8Array | null = null
let lastBytes: Buffer = Buffer.alloc(0)

/**
 * Encodes a WebSocket frame. A broadcast sends the same frame to one socket after another, so the last result is
 * cached.
 */
function webSocketFrame(frame: Uint8Array): Buffer {
  if (frame !== lastFrame) {
    lastBytes = encode(frame, opcode.binary)
    lastFrame = frame
  }
  return lastBytes
}
