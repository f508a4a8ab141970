/**
 * The short way for what editors send most: update frames of an established, writable connection. What arrives for one
 * board in one turn of the event loop is applied in one transaction, broadcast once and queued as one edit; then each
 * frame has its acknowledgement, held like any other until the commit. Through Hocuspocus' hooks each frame would pass
 * a dozen promises and be broadcast alone. Everything else (the first sync, awareness, stateless messages) goes there.
 */
import type { Connection } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { EditorContext } from './connection.ts'
import type { BoardDocument } from './document.ts'
import type { EditorSocket } from './socket.ts'

interface Frame {
  update: Uint8Array
  connection: Connection<EditorContext>
  socket: EditorSocket
}

export interface InboxOptions {
  /** Checks an update; false when it is refused, and who sent it cut off. */
  admit(board: BoardDocument, frame: Frame): boolean
  /** Applies it; false when that failed, and who sent it is cut off. */
  apply(board: BoardDocument, frame: Frame, origin: TurnOrigin): boolean
}

/** Origin of a transaction that holds the edits of several connections. */
export interface TurnOrigin {
  source: 'local'
  skipStoreHooks: boolean
  actors: string[]
  frames: number
}

export class Inbox {
  readonly #options: InboxOptions
  readonly #boards = new Map<BoardDocument, Frame[]>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  receive(board: BoardDocument, frame: Frame): void {
    const frames = this.#boards.get(board)
    if (frames) {
      frames.push(frame)
      return
    }
    if (this.#boards.size === 0) setImmediate(() => this.flush())
    this.#boards.set(board, [frame])
  }

  flush(): void {
    const boards = [...this.#boards]
    this.#boards.clear()
    for (const [board, frames] of boards) this.#apply(board, frames)
  }

  #apply(board: BoardDocument, frames: Frame[]): void {
    const actors = new Set<string>()
    for (const { connection } of frames) actors.add(connection.context.account)
    const origin: TurnOrigin = {
      source: 'local',
      skipStoreHooks: false,
      actors: [...actors],
      frames: frames.length,
    }
    const applied: Frame[] = []
    const apply = () => {
      for (const frame of frames) {
        if (!board.document.hasConnection(frame.connection)) continue
        if (this.#options.admit(board, frame) && this.#options.apply(board, frame, origin))
          applied.push(frame)
      }
    }
    Y.transact(board.document, apply, origin, false)
    board.broadcast()
    const mark = board.queue.queuedMark
    for (const { socket, connection } of applied)
      socket.acknowledge(connection.messageAddress, board.queue, mark)
  }
}

/** Address and update of a Sync/Update frame (varString address, varUint 0, varUint 2, varUint8Array update); null for any other. */
export function readUpdateFrame(frame: Uint8Array): { address: string; update: Uint8Array } | null {
  const length = frame[0]
  // Addresses are board ids with an optional session id: shorter than 128 bytes, so their length is one byte.
  if (length === undefined || length >= 128 || frame[length + 1] !== 0 || frame[length + 2] !== 2) return null
  let at = length + 3
  let size = 0
  for (let shift = 0; ; shift += 7) {
    const byte = frame[at++]
    if (byte === undefined || shift > 28) return null
    size += (byte & 127) * 2 ** shift
    if (byte < 128) break
  }
  if (at + size !== frame.byteLength) return null
  return {
    address: Buffer.from(frame.buffer, frame.byteOffset + 1, length).toString('latin1'),
    update: frame.subarray(at),
  }
}
