/**
 * Updates of editors: to the inbox, or refused; and what their acknowledgements wait for. Frames of an established
 * connection go past Hocuspocus, those that came before by its hook.
 */
import { OutgoingMessage, type Connection, type Extension } from '@hocuspocus/server'
import * as Y from 'yjs'
import { closeCodes } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import { holdsUpdate } from './admit.ts'
import { applyUpdate } from './apply.ts'
import { closeConnection, closeDocument, type EditorContext } from './connection.ts'
import type { BoardDocument } from './document.ts'
import type { Documents } from './documents.ts'
import { boardOf, syncStep, type Frame } from './frame.ts'
import type { GatewayBounds } from './gateway-bounds.ts'
import { Inbox } from './inbox.ts'
import { closeSocket, type OpenSockets, type SocketState } from './open-sockets.ts'
import type { Acknowledge } from './socket.ts'

export interface ReceiverOptions {
  documents: Documents
  sockets: OpenSockets
  bounds: GatewayBounds
  log: Logger
}

export class Receiver {
  readonly #options: ReceiverOptions
  readonly #inbox: Inbox
  readonly extension: Extension<EditorContext>

  constructor(options: ReceiverOptions) {
    this.#options = options
    const { documents, sockets, bounds, log } = options
    const inbox = new Inbox({
      apply: (board, update, account, origin) => applyUpdate(board, update, { account, origin, bounds, log }),
      maxPendingBytes: bounds.maxPendingBytes,
      broken(board, error) {
        log.error({ err: error, boardId: board.boardId }, 'a document broke; it is loaded anew from its log')
        board.distrust()
        closeDocument(documents.find(board.boardId)?.document, closeCodes.tryLater)
      },
    })
    this.#inbox = inbox
    this.extension = {
      extensionName: 'admit',
      /** Sync frames that came before the connection was established, and state vectors. */
      async beforeSync({ type, payload, documentName, connection }) {
        if (type === syncStep.stateVector) {
          if (!isStateVector(payload)) throw cutOff(connection, closeCodes.badFrame)
          return
        }
        const state = sockets.of(connection)
        if (!state) return
        if (connection.readOnly) {
          if (type === syncStep.update) connection.context.seat.refused += 1
          return
        }
        const board = documents.find(documentName)
        if (board?.document !== connection.document) throw cutOff(connection, closeCodes.tryLater)
        const frame = { connection, update: payload.slice(), socket: state.socket, counts: 1 }
        if (!inbox.receiveNow(board, frame)) state.withheld.add(connection.messageAddress)
        payload.fill(0) // an update of nothing: what Hocuspocus applies after us, it would apply unguarded
      },
    }
  }

  /** After an update was applied, and before its acknowledgement may go out. */
  readonly acknowledge: Acknowledge = (socket, address) => {
    const { documents, sockets } = this.#options
    if (sockets.find(socket)?.withheld.delete(address)) return null
    const board = documents.find(boardOf(address))
    return board && !board.isDistrusted ? { queue: board.queue, mark: board.queue.queuedMark } : null
  }

  /** An update of an established connection. */
  receive(state: SocketState, frame: Frame, connection: Connection<EditorContext>): void {
    const { socket } = state
    const { document } = connection
    const board = this.#options.documents.find(document.name)
    if (board?.document !== document) closeSocket(state, closeCodes.tryLater)
    else if (connection.readOnly) answerViewer(state, frame, board, connection)
    else
      this.#inbox.receive(board, {
        update: frame.payload,
        connection,
        socket,
        counts: countsFor(frame, connection),
      })
  }

  /** A connection has ended. */
  leave(connection: Connection<EditorContext>): void {
    this.#inbox.leave(connection)
  }
}

/** Once, but for the update that brings again what was refused before. */
function countsFor({ step }: Frame, { context: { seat } }: Connection<EditorContext>): number {
  if (step !== syncStep.missing || seat.owed === 0) return 1
  const { owed } = seat
  seat.owed = 0
  return owed
}

/** A viewer's update is never applied; what the document holds already is acknowledged all the same. */
function answerViewer(
  state: SocketState,
  { address, step, payload }: Frame,
  board: BoardDocument,
  connection: Connection<EditorContext>,
): void {
  let isHeld = false
  try {
    isHeld = step === syncStep.missing && holdsUpdate(board.document, payload)
  } catch {
    closeSocket(state, closeCodes.badFrame)
    return
  }
  if (step === syncStep.update) connection.context.seat.refused += 1
  state.socket.send(new OutgoingMessage(address).writeSyncStatus(isHeld).toUint8Array())
}

function isStateVector(bytes: Uint8Array): boolean {
  try {
    Y.decodeStateVector(bytes)
    return true
  } catch {
    return false
  }
}

/** To be thrown out of a hook: Hocuspocus then leaves the frame alone, and prints nothing. */
function cutOff(connection: Connection, reason: { code: number; reason: string }): Error {
  closeConnection(connection, reason)
  return Object.assign(new Error(''), reason)
}
