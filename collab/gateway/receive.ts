/**
 * Receives editors' updates: refuses them or passes them to the inbox. Decides when their acknowledgements may be sent.
 * Frames of an established connection bypass Hocuspocus; earlier frames arrive by its `beforeSync` hook.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import type { Connection, Extension } from '@hocuspocus/server'
import { closeCodes } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { Pace } from '../../platform/work/pace.ts'
import { task, TaskExceeded, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { holdsUpdate } from '../updates/admit.ts'
import { applyUpdate } from './apply.ts'
import { smallUpdateBytes, type cutReceived } from '../updates/cut.ts'
import { closeConnection, closeDocument, type EditorContext } from './connection.ts'
import { NoMemory } from '../commit/refusal.ts'
import type { BoardDocument } from '../documents/document.ts'
import type { Documents } from '../documents/documents.ts'
import { isTooCostly } from '../documents/load.ts'
import { boardOf, syncStatusFrame, syncStep, type Frame } from './protocol.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import { answerJoin } from './join.ts'
import { noRest } from './intake.ts'
import { Inbox, type FrameEnd, type UpdateFrame } from './inbox.ts'
import { stepsFor } from '../updates/meter.ts'
import { closeSocket, type OpenSockets, type SocketState } from './open-sockets.ts'
import type { Acknowledge } from './socket.ts'

export interface ReceiverOptions {
  documents: Documents
  sockets: OpenSockets
  bounds: GatewayBounds
  pace: Pace
  pool: WorkerPool
  log: Logger
}

const cutTask = task<typeof cutReceived>(new URL('../updates/cut.ts', import.meta.url), 'cutReceived')
/** Cutting 8 MB takes about two seconds. */
const cutMs = 10_000

export class Receiver {
  readonly #options: ReceiverOptions
  readonly #inbox: Inbox
  readonly extension: Extension<EditorContext>

  constructor(options: ReceiverOptions) {
    this.#options = options
    const { documents, sockets, bounds, pace, log } = options
    const inbox = new Inbox({
      apply: (board, update, how) => applyUpdate(board, update, { ...how, bounds, log }),
      maxPendingBytes: bounds.maxPendingBytes,
      maxAccountPendingBytes: bounds.maxAccountPendingBytes,
      pace,
      broken(board, error) {
        log.error(
          { err: error, boardId: board.boardId },
          'a transaction on a document failed; its editors are disconnected and it is reloaded from its log',
        )
        board.distrust()
        closeDocument(documents.find(board.boardId)?.document, closeCodes.tryLater)
      },
    })
    this.#inbox = inbox
    const apply = this.#apply.bind(this)
    this.extension = {
      extensionName: 'admit',
      /** Handles updates that arrived before the connection was established. */
      async beforeSync({ type, payload, documentName, connection }) {
        const state = sockets.of(connection)
        if (!state) return
        if (connection.readOnly) {
          if (type === syncStep.update) connection.context.seat.refused += 1
          return
        }
        const board = documents.find(documentName)
        if (board?.document !== connection.document) throw cutOff(connection, closeCodes.tryLater)
        const frame = { payload: payload.slice(), connection, socket: state.socket, counts: 0 }
        if ((await apply(board, frame)) !== 'applied')
          (state.withheld ??= new Set()).add(connection.messageAddress)
        payload.fill(0) // an empty update: Hocuspocus applies the payload after this hook, without our checks
      },
    }
  }

  /**
   * Called when Hocuspocus acknowledges an update. Returns the commit that the acknowledgement has to wait for; null
   * when it must not be sent.
   */
  readonly acknowledge: Acknowledge = (socket, address) => {
    const { documents, sockets } = this.#options
    if (sockets.find(socket)?.withheld?.delete(address)) return null
    const board = documents.find(boardOf(address))
    return board && !board.isDistrusted ? { edits: board.queue.edits, mark: board.queue.edits.mark } : null
  }

  /**
   * Receives an update of an established connection. Returns a promise when the socket's next frame has to wait for it.
   */
  receive(state: SocketState, frame: Frame, connection: Connection<EditorContext>): Promise<unknown> | null {
    const { socket } = state
    const { document } = connection
    const { payload } = frame
    const board = this.#options.documents.find(document.name)
    if (board?.document !== document) closeSocket(state, closeCodes.tryLater)
    else if (connection.readOnly) return this.#answerViewer(state, frame, board, connection)
    else {
      const { isBuilt } = board
      const done = this.#apply(board, { payload, connection, socket, counts: countsFor(frame, connection) })
      return isBuilt ? done : (done?.then(() => noRest) ?? null) // the document is built for everybody
    }
    return null
  }

  /** Answers a state vector. Resolves when the answer is sent. */
  async answer(state: SocketState, connection: Connection<EditorContext>, vector: Uint8Array): Promise<void> {
    const { documents, log } = this.#options
    const board = documents.find(connection.document.name)
    const release = board?.hold()
    try {
      if (board?.document !== connection.document) closeSocket(state, closeCodes.tryLater)
      else if (vector.byteLength === emptyVectorBytes || (await built(board)))
        await answerWhole(state, connection, board, vector)
    } catch (error) {
      if (error instanceof NoMemory) return closeSocket(state, closeCodes.noMemory)
      log.error({ err: error, boardId: connection.document.name }, 'encoding a document for a client failed')
      closeSocket(state, closeCodes.tryLater)
    } finally {
      release?.()
    }
  }

  #apply(
    board: BoardDocument,
    { payload, ...frame }: Omit<UpdateFrame, 'parts' | 'sizeBytes' | 'meter'> & { payload: Uint8Array },
  ): Promise<FrameEnd> | null {
    const meter = { steps: 0, maxSteps: 0, maxItemSteps: this.#options.bounds.maxItemSteps, turnSteps: 0 }
    const metered = { ...frame, meter, sizeBytes: payload.byteLength }
    if (!board.isBuilt && !isEmptyUpdate(payload))
      return built(board).then((isUsable) =>
        isUsable ? (this.#apply(board, { payload, ...frame }) ?? 'applied') : 'dropped',
      )
    if (payload.byteLength <= smallUpdateBytes)
      return this.#inbox.receive(board, { ...metered, parts: [payload] })
    const release = board.hold()
    return this.#cut(board, payload, frame.connection)
      .then((parts) => (parts ? (this.#inbox.receive(board, { ...metered, parts }) ?? 'applied') : 'dropped'))
      .finally(release)
  }

  /**
   * Cuts a large update into parts, in a worker thread. Returns null after closing the connection of an update that
   * can't be cut.
   */
  async #cut(
    { mergeSteps }: BoardDocument,
    payload: Uint8Array,
    connection: Connection<EditorContext>,
  ): Promise<Uint8Array[] | null> {
    const { pool, log, bounds } = this.#options
    const { account } = connection.context
    const maxSteps = stepsFor(payload.byteLength, mergeSteps, bounds)
    const input = { update: payload, maxNesting: bounds.maxNesting, maxSteps }
    try {
      const parts = await pool.run(cutTask, input, { account, timeoutMs: cutMs })
      if (Array.isArray(parts)) return parts
      closeConnection(connection, closeCodes[parts])
    } catch (error) {
      log.warn(
        { err: error, boardId: connection.document.name, account },
        'cutting a large update into parts failed; its connection is closed',
      )
      closeConnection(connection, error instanceof TaskExceeded ? closeCodes.tooCostly : closeCodes.tryLater)
    }
    return null
  }

  /** Answers a viewer's update. It is never applied, but is acknowledged when the document already contains it. */
  async #answerViewer(
    state: SocketState,
    { address, step, payload }: Frame,
    board: BoardDocument,
    connection: Connection<EditorContext>,
  ): Promise<void> {
    let isHeld = false
    if (step === syncStep.update) connection.context.seat.refused += 1
    else {
      const isSmall = payload.byteLength <= smallUpdateBytes
      const parts = isSmall ? [payload] : await this.#cut(board, payload, connection)
      if (!parts) return
      const release = board.hold()
      try {
        if (!isEmptyUpdate(payload) && !(await built(board))) return
        for (const part of parts) {
          if (!isSmall) await immediate()
          isHeld = holdsUpdate(board.document, part)
          if (!isHeld) break
        }
      } catch {
        closeSocket(state, closeCodes.badFrame)
        return
      } finally {
        release()
      }
    }
    state.socket.send(syncStatusFrame(address, isHeld))
  }

  /** Bytes of updates that wait to be applied. */
  get queuedBytes(): number {
    return this.#inbox.queuedBytes
  }

  /** Drops the waiting updates of a connection that has ended. */
  leave(connection: Connection<EditorContext>): void {
    this.#inbox.leave(connection)
  }
}

/** Resolves when the board's document is built. @returns false when its canvases are closed instead */
async function built(board: BoardDocument): Promise<boolean> {
  await board.built()
  return board.isBuilt && !board.isDistrusted && !board.isGone
}

/** Answers also when a thread has too little memory or time to encode the stored board: it is built here, in turns. */
async function answerWhole(...args: Parameters<typeof answerJoin>): Promise<void> {
  const [, , board] = args
  try {
    await answerJoin(...args)
  } catch (error) {
    if (board.isBuilt || !isTooCostly(error) || !(await built(board))) throw error
    await answerJoin(...args)
  }
}

const emptyVectorBytes = 1
const emptyUpdateBytes = 2

/** Whether an update has no structs and no deletions. A client that joins without any state sends such a one. */
const isEmptyUpdate = (update: Uint8Array): boolean =>
  update.byteLength === emptyUpdateBytes && update[0] === 0 && update[1] === 0

/** How many acknowledgements a frame gets. Usually 1; an update that repeats refused ones gets one for each of them. */
function countsFor({ step }: Frame, { context: { seat } }: Connection<EditorContext>): number {
  if (step !== syncStep.missing || seat.owed === 0) return 1
  const { owed } = seat
  seat.owed = 0
  return owed
}

/**
 * Closes a connection. The returned error is thrown out of a hook: Hocuspocus then ignores the frame and prints
 * nothing.
 */
function cutOff(connection: Connection, reason: { code: number; reason: string }): Error {
  closeConnection(connection, reason)
  return Object.assign(new Error(''), reason)
}
