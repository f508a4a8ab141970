/**
 * The fast path for update frames of established, writable connections. It collects all frames for one board in one
 * turn of the event loop. It applies them in one transaction, broadcasts them once and queues them as one edit. Then it
 * acknowledges each frame; the socket holds each acknowledgement until the commit. Hocuspocus' hooks would await a
 * dozen promises for each frame and broadcast each one alone. Everything else (the first sync, awareness, stateless
 * messages) goes through those hooks.
 *
 * A turn's time is short and shared by the boards. An unfinished update continues in the next turn. The frames of an
 * account that has used up its time wait (platform/work/pace.ts).
 *
 * An update that builds on missing edits waits without an acknowledgement. This happens when an editor reconnects and
 * keeps writing: it sends its new edits first, and its earlier ones as the answer to the service's SyncStep1.
 */
import type { Connection } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import { mark } from '../../platform/work/loop-watchdog.ts'
import { ordinaryMs, type Pace } from '../../platform/work/pace.ts'
import { hasCome, type Applied, type Missing } from './apply.ts'
import type { TurnOrigin } from '../documents/origin.ts'
import { closeConnection, type EditorContext } from './connection.ts'
import type { BoardDocument } from '../documents/document.ts'
import type { Refused } from '../updates/admit.ts'
import { stepsPerTurn, type Meter } from '../updates/meter.ts'
import { ownBytes } from '../updates/own-bytes.ts'
import type { EditorSocket } from './socket.ts'

export interface UpdateFrame {
  /** The parts that are still to be applied, in order. */
  parts: Uint8Array[]
  /** Size of the whole update. */
  sizeBytes: number
  meter: Meter
  connection: Connection<EditorContext>
  socket: EditorSocket
  /** How many acknowledgements the frame gets. 0: Hocuspocus sends the acknowledgement. */
  counts: number
}

/**
 * How a frame ended. `applied`: acknowledge it. `waits`: it waits for missing edits. `dropped`: it was refused, or its
 * connection has ended.
 */
export type FrameEnd = 'applied' | 'waits' | 'dropped'

export interface InboxOptions {
  apply(
    board: BoardDocument,
    update: Uint8Array,
    options: { account: string; origin: TurnOrigin; sizeBytes: number; meter: Meter },
  ): Applied
  pace: Pace
  /** A transaction failed. Some of its edits may be in memory but not on their way to the log. */
  broken(board: BoardDocument, error: unknown): void
  /** Bytes of waiting updates, for each board; and of one account, or all sessions and guests of an owner. */
  maxPendingBytes: number
  maxAccountPendingBytes: number
}

interface QueuedFrame extends UpdateFrame {
  end(how: FrameEnd): void
}

interface WaitingFrame extends QueuedFrame {
  missing: Missing
}

interface Turn {
  /** `performance.now()` at which the turn should end. */
  until: number
  origin: TurnOrigin
  /** Frames to acknowledge. */
  applied: QueuedFrame[]
  /** Frames left for the next turn. */
  left: QueuedFrame[]
  waiting: WaitingFrame[]
  /** The frames that waited before the turn. */
  readonly earlier: readonly WaitingFrame[]
}

/**
 * Time for integrating updates in one turn. Decoding and the end of the transaction take extra time. Other requests wait
 * for several turns each. Measured while an update of 380,000 maps was applied: another account's p99 was 570 ms with 12
 * ms and parts of 5,000 structs, and 310 ms with 4 ms and parts of 1,500.
 */
const turnMs = 4
/** Costs are counted in steps, not measured: on a busy machine even an ordinary update takes longer. */
const stepsPerMs = 5000
/** Above this many bytes of its queued frames, an account's sockets wait for each frame. */
const maxQueuedBytes = 256 * 1024

export class Inbox {
  readonly #options: InboxOptions
  /** The board at the front has the next turn. */
  readonly #boards = new Map<BoardDocument, QueuedFrame[]>()
  readonly #waiting = new Map<BoardDocument, { frames: WaitingFrame[]; end: () => void }>()
  /** Bytes of waiting frames, by the account that pays. */
  readonly #waitingBytes = new Map<string, number>()
  readonly #pace: Pace
  /** Bytes of queued frames, by account, and of all. */
  readonly #queuedBytes = new Map<string, number>()
  #allQueuedBytes = 0
  #flushing: NodeJS.Immediate | NodeJS.Timeout | null = null
  /** Whether the next flush runs at the end of this turn. */
  #isSoon = false

  constructor(options: InboxOptions) {
    this.#options = options
    this.#pace = options.pace
  }

  get queuedBytes(): number {
    return this.#allQueuedBytes
  }

  /**
   * Queues a frame. Returns null when the sender may continue at once, else a promise that resolves when the frame is
   * done.
   */
  receive(board: BoardDocument, frame: UpdateFrame): Promise<FrameEnd> | null {
    const { account } = frame.connection.context
    const sizeBytes = bytesOf(frame)
    const queuedBytes = (this.#queuedBytes.get(account) ?? 0) + sizeBytes
    this.#queuedBytes.set(account, queuedBytes)
    this.#allQueuedBytes += sizeBytes
    const { promise, resolve } = Promise.withResolvers<FrameEnd>()
    const release = board.hold()
    let hasEnded = false
    const end = (how: FrameEnd) => {
      if (hasEnded) return
      hasEnded = true
      release()
      this.#allQueuedBytes -= sizeBytes
      const left = this.#queuedBytes.get(account)! - sizeBytes
      if (left > 0) this.#queuedBytes.set(account, left)
      else this.#queuedBytes.delete(account)
      resolve(how)
    }
    this.#nextTurn(board).push({ ...frame, end })
    const hasToWait = frame.counts === 0 || queuedBytes > maxQueuedBytes || this.#pace.restMs(account) > 0
    return hasToWait ? promise : null
  }

  /** Drops the waiting frames of a connection that has ended. The client sends them again when it reconnects. */
  leave(connection: Connection<EditorContext>): void {
    for (const [board, { frames }] of this.#waiting)
      if (board.document === connection.document)
        this.#keep(
          board,
          frames.filter((frame) => frame.connection !== connection),
        )
  }

  flush(): void {
    mark('applying updates of editors')
    this.#flushing = null
    const until = performance.now() + turnMs
    for (const [board, frames] of [...this.#boards]) {
      if (this.#restMs(frames) > 0) continue // a transaction that applies nothing has its cost, too
      this.#boards.delete(board)
      const { applied, left } = this.#run(board, frames, until)
      if (left.length > 0) this.#boards.set(board, [...(this.#boards.get(board) ?? []), ...left])
      board.fanOut.broadcast()
      for (const [account, ms] of board.fanOut.takeCharges()) this.#pace.spend(account, ms)
      this.#acknowledge(board, applied)
      if (performance.now() > until) break
    }
    if (this.#boards.size > 0) this.#schedule()
  }

  /** Milliseconds until one of the frames may be applied. Without frames 0: some that waited may be ready now. */
  #restMs(frames: readonly QueuedFrame[]): number {
    let restMs = frames.length === 0 ? 0 : Infinity
    for (const { connection } of frames) {
      if (restMs === 0) break
      restMs = Math.min(restMs, this.#pace.restMs(connection.context.account))
    }
    return restMs
  }

  /** Schedules the next flush: at the end of this turn, or when the first account that rests may continue. */
  #schedule(): void {
    const restMs = Math.min(...[...this.#boards.values()].map((frames) => this.#restMs(frames)))
    this.#stopFlushing()
    this.#isSoon = restMs === 0
    this.#flushing = this.#isSoon ? setImmediate(() => this.flush()) : setTimeout(() => this.flush(), restMs)
  }

  #stopFlushing(): void {
    clearImmediate(this.#flushing as NodeJS.Immediate)
    clearTimeout(this.#flushing as NodeJS.Timeout)
  }

  #nextTurn(board: BoardDocument): QueuedFrame[] {
    if (!this.#flushing || !this.#isSoon) {
      this.#stopFlushing()
      this.#isSoon = true
      this.#flushing = setImmediate(() => this.flush())
    }
    return this.#boards.getOrInsert(board, [])
  }

  #acknowledge(board: BoardDocument, frames: QueuedFrame[]): void {
    const { edits } = board.queue
    const { mark } = edits
    for (const { socket, connection, counts, end } of frames) {
      for (let n = 0; n < counts; n++) socket.acknowledge(connection.messageAddress, edits, mark)
      end('applied')
    }
  }

  /** Applies frames in one transaction, together with the waiting frames that they made ready. */
  #run(board: BoardDocument, frames: QueuedFrame[], until: number): Turn {
    const earlier = this.#waiting.get(board)?.frames ?? []
    const origin: TurnOrigin = { source: 'local', skipStoreHooks: false, actors: [], tokens: [], frames: 0 }
    const turn: Turn = { until, origin, applied: [], left: [], waiting: earlier, earlier }
    try {
      board.edit(origin, () => {
        for (const frame of frames) this.#take(board, frame, turn)
        this.#retry(board, turn)
      })
    } catch (error) {
      this.#options.broken(board, error)
      for (const { end } of frames) end('dropped')
      return { ...turn, applied: [], left: [], waiting: [] }
    }
    if (turn.waiting !== earlier) this.#keep(board, turn.waiting)
    const { transactionMs } = board
    for (const account of transactionMs > ordinaryMs ? origin.actors : [])
      this.#pace.spend(account, transactionMs / origin.actors.length)
    return turn
  }

  #take(board: BoardDocument, frame: QueuedFrame, turn: Turn): void {
    const { connection, end } = frame
    if (!board.document.hasConnection(connection)) {
      end('dropped')
      return
    }
    if (connection.readOnly) {
      connection.context.seat.refused += frame.counts
      end('dropped')
      return
    }
    const { account, question } = connection.context
    // A transaction may have taken the turn's time before it could begin.
    const isOver = turn.origin.frames > 0 && performance.now() > turn.until
    if (isOver || this.#pace.restMs(account) > 0) {
      turn.left.push(frame)
      return
    }
    if (!turn.origin.actors.includes(account)) turn.origin.actors.push(account)
    if (!turn.origin.tokens.includes(question.tokenId)) turn.origin.tokens.push(question.tokenId)
    turn.origin.sender =
      turn.origin.frames === 0 || turn.origin.sender === connection ? connection : undefined
    turn.origin.frames += 1
    const result = this.#applyParts(board, frame, turn)
    if (result.kind === 'applied') turn.applied.push(frame)
    else if (result.kind === 'unfinished') turn.left.push(frame)
    else if (result.kind === 'refused') {
      end('dropped')
      closeConnection(connection, result)
    } else {
      const refused = this.#refusedToWait(frame, turn)
      if (refused) {
        end('dropped')
        closeConnection(connection, refused)
        return
      }
      end('waits')
      // Hocuspocus no longer acknowledges this frame, so it counts at least once.
      const counts = Math.max(1, frame.counts)
      const parts = frame.parts.map(ownBytes)
      turn.waiting = [...turn.waiting, { ...frame, parts, counts, missing: result.missing }]
    }
  }

  /** Returns why the frame can't wait with the others; null when it can. */
  #refusedToWait(frame: QueuedFrame, { waiting, earlier }: Turn): Refused | null {
    const { maxPendingBytes, maxAccountPendingBytes } = this.#options
    const bytes = bytesOf(frame)
    if (waiting.length >= maxWaitingFrames || sumOf(waiting) + bytes > maxPendingBytes)
      return closeCodes.tooBig
    const payer = payerOf(frame)
    const paid = (frames: readonly WaitingFrame[]) => sumOf(frames.filter((one) => payerOf(one) === payer))
    const onOthers = (this.#waitingBytes.get(payer) ?? 0) - paid(earlier)
    return onOthers + paid(waiting) + bytes > maxAccountPendingBytes ? closeCodes.tryLater : null
  }

  /** Applies as many parts of a frame as the turn has time for, but at least one. */
  #applyParts(
    board: BoardDocument,
    { parts, sizeBytes, meter, connection }: QueuedFrame,
    { origin, until }: Turn,
  ): Exclude<Applied, { kind: 'cut' }> {
    const { account, isGuest } = connection.context
    do {
      const { byteLength } = parts[0]!
      meter.turnSteps = stepsPerTurn
      const result = this.#options.apply(board, parts[0]!, { account, origin, sizeBytes, meter })
      // Twice the steps: ending the transaction takes about as long again.
      const costMs = (2 * (stepsPerTurn - meter.turnSteps)) / stepsPerMs
      if (costMs > ordinaryMs) this.#pace.spend(account, costMs)
      if (result.kind === 'cut') {
        parts.splice(0, 1, ...result.parts)
        continue
      }
      // Also what is refused or has to wait may have been applied in part. What was emitted is the limit of the count.
      if (isGuest) {
        origin.guests ??= new Map()
        origin.guests.set(account, (origin.guests.get(account) ?? 0) + byteLength)
      }
      if (result.kind !== 'applied') return result
      if (parts.length === 1) return result
      parts.shift()
    } while (performance.now() <= until)
    return { kind: 'unfinished' }
  }

  #retry(board: BoardDocument, turn: Turn): void {
    for (let round = 0; round < maxRetries; round++) {
      const ready = turn.waiting.filter(({ missing }) => hasCome(board.document, missing))
      if (ready.length === 0) return
      turn.waiting = turn.waiting.filter((frame) => !ready.includes(frame))
      for (const frame of ready) this.#take(board, frame, turn)
    }
  }

  /**
   * Stores a board's waiting frames. While there are any, each change of the document causes a retry, since it may
   * bring the missing edits.
   */
  #keep(board: BoardDocument, frames: WaitingFrame[]): void {
    const known = this.#waiting.get(board)
    for (const frame of known?.frames ?? []) this.#countWaiting(frame, -bytesOf(frame))
    for (const frame of frames) this.#countWaiting(frame, bytesOf(frame))
    if (frames.length === 0) {
      known?.end()
      this.#waiting.delete(board)
    } else if (known) known.frames = frames
    else {
      const retry = () => void this.#nextTurn(board)
      const release = board.hold()
      board.document.on('update', retry)
      const end = () => {
        board.document.off('update', retry)
        release()
      }
      this.#waiting.set(board, { frames, end })
    }
  }

  #countWaiting(frame: WaitingFrame, bytes: number): void {
    const payer = payerOf(frame)
    const sum = (this.#waitingBytes.get(payer) ?? 0) + bytes
    if (sum > 0) this.#waitingBytes.set(payer, sum)
    else this.#waitingBytes.delete(payer)
  }
}

/** Waiting frames of one board. Each one is decoded again when an edit arrives that it might wait for. */
const maxWaitingFrames = 1000
/** Rounds of retries in one turn. The next turn does the rest. */
const maxRetries = 16

const payerOf = ({ connection }: UpdateFrame): string => {
  const { account, seat } = connection.context
  return seat.payer ?? account
}

const bytesOf = ({ parts }: UpdateFrame): number => parts.reduce((sum, part) => sum + part.byteLength, 0)
const sumOf = (frames: readonly UpdateFrame[]): number =>
  frames.reduce((sum, frame) => sum + bytesOf(frame), 0)
