/**
 * The short way for what editors send most: update frames of an established, writable connection. What arrives for one
 * board in one turn of the event loop is applied in one transaction, broadcast once and queued as one edit; then each
 * frame has its acknowledgement, held like any other until the commit. Through Hocuspocus' hooks each frame would pass
 * a dozen promises and be broadcast alone. Everything else (the first sync, awareness, stateless messages) goes there.
 *
 * An update that builds on what is not there waits, without an acknowledgement: an editor that comes back and goes on
 * writing sends its new edits first, and what it wrote before in answer to our question.
 */
import type { Connection } from '@hocuspocus/server'
import * as Y from 'yjs'
import { closeCodes } from '../core/errors.ts'
import { hasCome, type Applied, type Missing, type TurnOrigin } from './apply.ts'
import { closeConnection, type EditorContext } from './connection.ts'
import type { BoardDocument } from './document.ts'
import type { EditorSocket } from './socket.ts'

export interface UpdateFrame {
  update: Uint8Array
  connection: Connection<EditorContext>
  socket: EditorSocket
  /** How many acknowledgements it is worth. */
  counts: number
}

export interface InboxOptions {
  apply(board: BoardDocument, update: Uint8Array, account: string, origin: TurnOrigin): Applied
  /** A transaction did not come to its end: what is in memory may not all be on its way into the log. */
  broken(board: BoardDocument, error: unknown): void
  /** Bytes of updates that wait, for each board. */
  maxPendingBytes: number
}

interface WaitingFrame extends UpdateFrame {
  missing: Missing
}

interface Turn {
  /** To be acknowledged. */
  applied: UpdateFrame[]
  waiting: WaitingFrame[]
}

export class Inbox {
  readonly #options: InboxOptions
  readonly #boards = new Map<BoardDocument, UpdateFrame[]>()
  readonly #waiting = new Map<BoardDocument, { frames: WaitingFrame[]; retry: () => void }>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  receive(board: BoardDocument, frame: UpdateFrame): void {
    this.#nextTurn(board).push(frame)
  }

  /** A frame that cannot wait for the turn to end. Whether it is to be acknowledged now; if not, it waits or is refused. */
  receiveNow(board: BoardDocument, frame: UpdateFrame): boolean {
    const { applied } = this.#run(board, [frame])
    this.#acknowledge(
      board,
      applied.filter((other) => other !== frame),
    )
    return applied.includes(frame)
  }

  /** A connection has ended: what it sent and what could not be applied yet will come again. */
  leave(connection: Connection<EditorContext>): void {
    for (const [board, { frames }] of this.#waiting)
      if (board.document === connection.document)
        this.#keep(
          board,
          frames.filter((frame) => frame.connection !== connection),
        )
  }

  flush(): void {
    const boards = [...this.#boards]
    this.#boards.clear()
    for (const [board, frames] of boards) {
      const { applied } = this.#run(board, frames)
      board.broadcast()
      this.#acknowledge(board, applied)
    }
  }

  #nextTurn(board: BoardDocument): UpdateFrame[] {
    if (this.#boards.size === 0) setImmediate(() => this.flush())
    const frames = this.#boards.get(board) ?? []
    this.#boards.set(board, frames)
    return frames
  }

  #acknowledge(board: BoardDocument, frames: UpdateFrame[]): void {
    const mark = board.queue.queuedMark
    for (const { socket, connection, counts } of frames)
      for (let n = 0; n < counts; n++) socket.acknowledge(connection.messageAddress, board.queue, mark)
  }

  /** Applies frames in one transaction, and those that waited for what they brought. */
  #run(board: BoardDocument, frames: UpdateFrame[]): Turn {
    const earlier = this.#waiting.get(board)?.frames ?? []
    const origin: TurnOrigin = { source: 'local', skipStoreHooks: false, actors: [], frames: frames.length }
    const turn: Turn = { applied: [], waiting: earlier }
    try {
      Y.transact(
        board.document,
        () => {
          for (const frame of frames) this.#take(board, frame, origin, turn)
          this.#retry(board, origin, turn)
        },
        origin,
        false,
      )
    } catch (error) {
      this.#options.broken(board, error)
      return { applied: [], waiting: [] }
    }
    if (turn.waiting !== earlier) this.#keep(board, turn.waiting)
    return turn
  }

  #take(board: BoardDocument, frame: UpdateFrame, origin: TurnOrigin, turn: Turn): void {
    const { connection, update } = frame
    if (!board.document.hasConnection(connection)) return
    if (connection.readOnly) {
      connection.context.seat.refused += frame.counts
      return
    }
    const { account } = connection.context
    if (!origin.actors.includes(account)) origin.actors.push(account)
    const result = this.#options.apply(board, update, account, origin)
    if (result.kind === 'applied') turn.applied.push(frame)
    else if (result.kind === 'refused') closeConnection(connection, result)
    else if (
      turn.waiting.length < maxWaitingFrames &&
      bytesOf(turn.waiting) + update.byteLength <= this.#options.maxPendingBytes
    )
      turn.waiting = [...turn.waiting, { ...frame, missing: result.missing }]
    else closeConnection(connection, closeCodes.tooBig)
  }

  #retry(board: BoardDocument, origin: TurnOrigin, turn: Turn): void {
    for (let round = 0; round < maxRetries; round++) {
      const ready = turn.waiting.filter(({ missing }) => hasCome(board.document, missing))
      if (ready.length === 0) return
      turn.waiting = turn.waiting.filter((frame) => !ready.includes(frame))
      for (const frame of ready) this.#take(board, frame, origin, turn)
    }
  }

  /** While something waits, every change of the document, whoever makes it, may bring what is missing. */
  #keep(board: BoardDocument, frames: WaitingFrame[]): void {
    const known = this.#waiting.get(board)
    if (frames.length === 0) {
      if (known) board.document.off('update', known.retry)
      this.#waiting.delete(board)
    } else if (known) known.frames = frames
    else {
      const retry = () => void this.#nextTurn(board)
      board.document.on('update', retry)
      this.#waiting.set(board, { frames, retry })
    }
  }
}

/** Of one board. Each of them is decoded again when something comes that it might have waited for. */
const maxWaitingFrames = 1000
/** In one turn; what is left has the next. */
const maxRetries = 16

const bytesOf = (frames: UpdateFrame[]): number =>
  frames.reduce((sum, { update }) => sum + update.byteLength, 0)
