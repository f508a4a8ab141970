/**
 * An editor's socket as Hocuspocus sees it. Acknowledgements (SyncStatus frames) that Hocuspocus sends are held until
 * all that their document had queued is committed; everything else passes at once. What is sent in one turn of the
 * event loop leaves in one write.
 */
import type { Duplex } from 'node:stream'
import * as ws from 'ws'
import { closeCodes } from '../../core/errors.ts'
import type { EditBacklog } from '../commit/edit-backlog.ts'
import { temporaryRefusal } from '../documents/documents.ts'
import type { Canvas } from '../documents/show.ts'
import { acknowledgementFrame, refusalReason, syncStatusAddress } from './protocol.ts'

interface Held {
  frame: Uint8Array
  edits: EditBacklog
  /** How far these have to be committed. */
  mark: number
  /** How many frames like it wait for the same: those who change nothing take no memory either. */
  times: number
}

function addHeld(queue: Held[], held: Held): void {
  const last = queue.at(-1)!
  if (last.frame === held.frame && last.mark === held.mark && last.edits === held.edits) last.times += 1
  else queue.push(held)
}

export interface SocketBounds {
  /** A reader that leaves more than this unread is closed. */
  maxUnreadBytes: number
  /** A canvas that leaves more than this unread does not show what was written. */
  maxLiveUnreadBytes: number
}

/** Called with each SyncStatus frame; tells what it has to wait for. Null: it must not go out at all. */
export type Acknowledge = (
  socket: EditorSocket,
  address: string,
) => { edits: EditBacklog; mark: number } | null

export class EditorSocket implements Canvas {
  readonly #socket: ws.WebSocket
  readonly #stream: Duplex
  readonly #bounds: SocketBounds
  readonly #acknowledge: Acknowledge
  /** By address, first in first out: a slow board does not hold up the others of this socket. */
  readonly #held = new Map<string, Held[]>()
  #outgoing: Buffer[] = []
  #outgoingBytes = 0
  #largest = 0
  /** Of the last frame that was sent. */
  sentAt = Date.now()
  /** When it was last known to have read all but a little. */
  #readAt = 0
  readonly #tooSlow: (socket: EditorSocket) => void
  readonly #acknowledgements = new Map<string, Uint8Array>()

  constructor(
    socket: ws.WebSocket,
    stream: Duplex,
    bounds: SocketBounds,
    /** `tooSlow` is told when a socket is closed because it reads too slowly. */
    { acknowledge, tooSlow }: { acknowledge: Acknowledge; tooSlow(socket: EditorSocket): void },
  ) {
    this.#socket = socket
    this.#stream = stream
    this.#bounds = bounds
    this.#acknowledge = acknowledge
    this.#tooSlow = tooSlow
  }

  /** What was sent and not read yet, as far as this process holds it. */
  get unreadBytes(): number {
    return this.#outgoingBytes + this.#stream.writableLength
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  send(frame: Uint8Array): void {
    const address = syncStatusAddress(frame)
    // A provider takes a refusal as final. After a close it connects again.
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

  /** For how long more than a little of what was sent has been unread; 0 when it is read. */
  get behindMs(): number {
    return this.#isRead ? 0 : Math.max(1, Date.now() - this.#readAt)
  }

  get #isRead(): boolean {
    return this.unreadBytes <= this.#bounds.maxLiveUnreadBytes
  }

  /** Answers a ping; unread answers count like all that is unread. */
  pong(data: Buffer): void {
    if (!this.#closeIfSlow()) this.#enqueue(encode(data, opcode.pong))
  }

  /** Acknowledges an update, once its board's edits are committed up to `mark`. */
  acknowledge(address: string, edits: EditBacklog, mark: number): void {
    let frame = this.#acknowledgements.get(address)
    if (!frame) this.#acknowledgements.set(address, (frame = acknowledgementFrame(address)))
    this.#hold(address, { frame, edits, mark, times: 1 })
  }

  #hold(address: string, held: Held): void {
    if (this.#socket.readyState !== ws.WebSocket.OPEN) return
    const earlier = this.#held.get(address)
    if (earlier) addHeld(earlier, held)
    else if (held.edits.hasCommitted(held.mark)) this.#write(held.frame)
    else {
      this.#held.set(address, [held])
      held.edits.onCommitted(this.release)
    }
  }

  close(code?: number, reason?: string): void {
    this.#held.clear()
    this.#flush()
    this.#socket.close(code, reason)
  }

  /** A board is no longer open on this socket. */
  forget(address: string): void {
    this.#held.delete(address)
    this.#acknowledgements.delete(address)
  }

  /** Lets go what is committed by now. */
  readonly release = (): void => {
    for (const [address, queue] of this.#held) {
      let done = 0
      while (done < queue.length && queue[done]!.edits.hasCommitted(queue[done]!.mark)) {
        const { frame, times } = queue[done++]!
        for (let time = 0; time < times; time++) this.#write(frame)
      }
      if (done === queue.length) this.#held.delete(address)
      else {
        queue.splice(0, done)
        queue[0]!.edits.onCommitted(this.release)
      }
    }
  }

  #write(frame: Uint8Array): void {
    if (this.#closeIfSlow()) return
    this.sentAt = Date.now()
    if (this.#isRead) this.#readAt = this.sentAt
    this.#enqueue(webSocketFrame(frame))
  }

  #enqueue(bytes: Buffer): void {
    if (this.#outgoing.length === 0) process.nextTick(this.#flush)
    this.#outgoing.push(bytes)
    this.#outgoingBytes += bytes.byteLength
    this.#largest = Math.max(this.#largest, bytes.byteLength)
  }

  /** The largest unread frame comes on top of the bound: a board may be larger, and has to be sent in one. */
  #closeIfSlow(): boolean {
    if (this.#socket.readyState !== ws.WebSocket.OPEN) return true
    const unread = this.unreadBytes
    if (unread === 0) this.#largest = 0
    if (unread <= this.#bounds.maxUnreadBytes + this.#largest) return false
    this.#held.clear()
    this.#outgoing = []
    this.#outgoingBytes = 0
    this.#tooSlow(this)
    this.#socket.close(closeCodes.tooSlow.code, closeCodes.tooSlow.reason)
    this.#socket.terminate() // the close frame would wait behind all that it does not read
    return true
  }

  readonly #flush = (): void => {
    const outgoing = this.#outgoing
    this.#outgoing = []
    this.#outgoingBytes = 0
    if (outgoing.length === 0 || this.#socket.readyState !== ws.WebSocket.OPEN) return
    this.#stream.write(outgoing.length === 1 ? outgoing[0]! : Buffer.concat(outgoing))
  }
}

// The types of ws leave it out.
const { Sender } = ws as unknown as {
  Sender: {
    frame(
      data: Uint8Array,
      options: { fin: true; opcode: number; mask: false; readOnly: true; rsv1: false },
    ): Buffer[]
  }
}
/** RFC 6455, 5.2. */
const opcode = { binary: 2, pong: 10 } as const

const encode = (data: Uint8Array, opcode: number): Buffer =>
  Buffer.concat(Sender.frame(data, { fin: true, opcode, mask: false, readOnly: true, rsv1: false }))

let lastFrame: Uint8Array | null = null
let lastBytes: Buffer = Buffer.alloc(0)

/** The bytes on the wire. A broadcast brings the same frame for one socket after the other: it is encoded once. */
function webSocketFrame(frame: Uint8Array): Buffer {
  if (frame !== lastFrame) {
    lastBytes = encode(frame, opcode.binary)
    lastFrame = frame
  }
  return lastBytes
}
