/**
 * An editor's socket as Hocuspocus sees it. Acknowledgements (SyncStatus frames) that Hocuspocus sends are held until
 * all that their document had queued is committed; everything else passes at once. What is sent in one turn of the
 * event loop leaves in one write.
 */
import type { Duplex } from 'node:stream'
import * as ws from 'ws'
import { closeCodes } from '../core/errors.ts'
import type { BoardQueue } from './commit.ts'
import { comeAgainReason } from './connection.ts'

interface Held {
  frame: Uint8Array
  queue: BoardQueue
  /** What the queue's `committedMark` has to reach. */
  mark: number
}

export interface SocketBounds {
  /** A reader that leaves more than this unread is closed. */
  maxUnreadBytes: number
}

/** Called with each SyncStatus frame; tells what it has to wait for. Null: nothing. */
export type Acknowledge = (
  socket: EditorSocket,
  address: string,
) => { queue: BoardQueue; mark: number } | null

const auth = 2
const permissionDenied = 1
const syncStatus = 8

export class EditorSocket {
  readonly #socket: ws.WebSocket
  readonly #stream: Duplex
  readonly #bounds: SocketBounds
  readonly #acknowledge: Acknowledge
  /** By address, first in first out: a slow board does not hold up the others of this socket. */
  readonly #held = new Map<string, Held[]>()
  #outgoing: Buffer[] = []
  #outgoingBytes = 0
  readonly #acknowledgements = new Map<string, Uint8Array>()

  constructor(socket: ws.WebSocket, stream: Duplex, bounds: SocketBounds, acknowledge: Acknowledge) {
    this.#socket = socket
    this.#stream = stream
    this.#bounds = bounds
    this.#acknowledge = acknowledge
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  send(frame: Uint8Array): void {
    const address = syncStatusAddress(frame)
    if (address !== null) {
      const wait = this.#acknowledge(this, address)
      if (this.#socket.readyState !== ws.WebSocket.OPEN) return // the acknowledgement found the frame at fault
      if (wait) {
        this.#hold(address, { frame, ...wait })
        return
      }
    } else if (isComeAgain(frame)) {
      this.close(closeCodes.tryLater.code, closeCodes.tryLater.reason)
      return
    }
    this.#write(frame)
  }

  /** Acknowledges an update, once the queue has committed up to `mark`. */
  acknowledge(address: string, queue: BoardQueue, mark: number): void {
    let frame = this.#acknowledgements.get(address)
    if (!frame) this.#acknowledgements.set(address, (frame = syncStatusFrame(address)))
    this.#hold(address, { frame, queue, mark })
  }

  #hold(address: string, held: Held): void {
    const earlier = this.#held.get(address)
    if (earlier) earlier.push(held)
    else if (held.queue.committedMark >= held.mark) this.#write(held.frame)
    else {
      this.#held.set(address, [held])
      held.queue.onCommitted(this.release)
    }
  }

  close(code?: number, reason?: string): void {
    this.#held.clear()
    this.#flush()
    this.#socket.close(code, reason)
  }

  /** Lets go what is committed by now. */
  readonly release = (): void => {
    for (const [address, queue] of this.#held) {
      let done = 0
      while (done < queue.length && queue[done]!.queue.committedMark >= queue[done]!.mark)
        this.#write(queue[done++]!.frame)
      if (done === queue.length) this.#held.delete(address)
      else {
        queue.splice(0, done)
        queue[0]!.queue.onCommitted(this.release)
      }
    }
  }

  #write(frame: Uint8Array): void {
    if (this.#socket.readyState !== ws.WebSocket.OPEN) return
    const bytes = webSocketFrame(frame)
    if (this.#outgoing.length === 0) process.nextTick(this.#flush)
    this.#outgoing.push(bytes)
    this.#outgoingBytes += bytes.byteLength
    if (this.#outgoingBytes + this.#stream.writableLength > this.#bounds.maxUnreadBytes) {
      this.#held.clear()
      this.#outgoing = []
      this.#socket.close(closeCodes.tooSlow.code, closeCodes.tooSlow.reason)
      this.#socket.terminate() // the close frame would wait behind all that it does not read
    }
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
      options: { fin: true; opcode: 2; mask: false; readOnly: true; rsv1: false },
    ): Buffer[]
  }
}
let lastFrame: Uint8Array | null = null
let lastBytes = Buffer.alloc(0)

/** The bytes on the wire. A broadcast brings the same frame for one socket after the other: it is encoded once. */
function webSocketFrame(frame: Uint8Array): Buffer {
  if (frame !== lastFrame) {
    lastBytes = Buffer.concat(
      Sender.frame(frame, { fin: true, opcode: 2, mask: false, readOnly: true, rsv1: false }),
    )
    lastFrame = frame
  }
  return lastBytes
}

/** The address of a SyncStatus frame (varString address, varUint 8, varUint 0 or 1); null for any other frame. */
function syncStatusAddress(frame: Uint8Array): string | null {
  const length = frame[0]
  if (
    length === undefined ||
    length >= 128 ||
    frame.byteLength !== length + 3 ||
    frame[length + 1] !== syncStatus
  )
    return null
  return Buffer.from(frame.buffer, frame.byteOffset + 1, length).toString()
}

/** Whether it is varString address, varUint 2, varUint 1, varString reason, with the reason for which an editor comes again. */
function isComeAgain(frame: Uint8Array): boolean {
  const length = frame[0]
  if (length === undefined || length >= 128 || frame[length + 1] !== auth) return false
  if (frame[length + 2] !== permissionDenied) return false
  return (
    Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength).toString('latin1', length + 4) ===
    comeAgainReason
  )
}

function syncStatusFrame(address: string): Uint8Array {
  const text = Buffer.from(address)
  return Buffer.concat([Buffer.of(text.byteLength), text, Buffer.of(syncStatus, 1)])
}
