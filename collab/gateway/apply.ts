/**
 * How an editor's update gets into a document: admitted, then applied in as many turns as it takes, or put off until
 * what it builds on is there.
 */
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import { refuseUpdate, type AdmitBounds, type Refused } from '../updates/admit.ts'
import type { TurnOrigin } from '../documents/origin.ts'
import { countRanges, cutOffDeletes, maxRanges } from '../updates/cut.ts'
import type { BoardDocument } from '../documents/document.ts'
import { metered, stepsOfDeletes, stepsPerTurn, TooCostly, TurnOver, type Meter } from '../updates/meter.ts'

export interface ApplyBounds extends AdmitBounds {
  /** Edits of one board that wait for their commit. */
  maxQueuedBytes: number
}

/** By client: clocks from which on something is missing. */
export type Missing = ReadonlyMap<number, number>

export type Applied =
  | { kind: 'applied' }
  /** The time of this turn is over. Applying the same update again goes on where it stopped. */
  | { kind: 'unfinished' }
  /** Too many deletions for one turn. Nothing is applied; these parts do the same. */
  | { kind: 'cut'; parts: Uint8Array[] }
  | { kind: 'waits'; missing: Missing }
  | ({ kind: 'refused' } & Refused)

export interface ApplyOptions {
  account: string
  origin: TurnOrigin
  meter: Meter
  bounds: ApplyBounds
  log: Logger
}

/**
 * To be called within a transaction. An update that waits has been applied as far as it goes. Yjs would keep the rest in
 * the document, and apply it when it can; but no 'update' event tells of it, and the log would not hold it. An update
 * that turns out too costly is refused; what was applied of it until then stays and is logged.
 */
export function applyUpdate(board: BoardDocument, update: Uint8Array, options: ApplyOptions): Applied {
  const { account, origin, meter, bounds, log } = options
  const { document } = board
  const refuse = (refused: Refused): Applied => {
    const { code, reason } = refused
    log.warn({ boardId: board.boardId, account, code, reason }, 'an editor’s update was refused')
    return { kind: 'refused', code, reason }
  }
  if (board.queue.edits.bytes > bounds.maxQueuedBytes) return refuse(closeCodes.tryLater)
  const decoded = decode(update)
  if (!decoded) return refuse(closeCodes.badFrame)
  const refused = refuseUpdate(document, board.sizeBytes + update.byteLength, decoded, bounds)
  if (refused) return refuse(refused)
  const { structs, ds } = decoded
  const isLong = countRanges(ds) > maxRanges && stepsOfDeletes(document, ds.clients) > stepsPerTurn
  if (isLong) return { kind: 'cut', parts: cutOffDeletes(structs, ds) }

  const { store } = document
  const { pendingStructs, pendingDs } = store
  store.pendingStructs = null
  store.pendingDs = null
  const stepsBefore = meter.steps
  try {
    metered(meter, () => Y.applyUpdate(document, update, origin))
    const missing = missingOf(document)
    return missing.size > 0 ? { kind: 'waits', missing } : { kind: 'applied' }
  } catch (error) {
    if (error instanceof TurnOver) return { kind: 'unfinished' }
    if (error instanceof TooCostly) return refuse(closeCodes.tooCostly)
    // What it had integrated by then is in memory and will be in the log.
    log.warn({ err: error, boardId: board.boardId, account }, 'an editor’s update broke off')
    return { kind: 'refused', ...closeCodes.badFrame }
  } finally {
    board.merged(meter.steps - stepsBefore)
    store.pendingStructs = pendingStructs
    store.pendingDs = pendingDs
  }
}

function decode(update: Uint8Array): ReturnType<typeof Y.decodeUpdate> | null {
  try {
    return Y.decodeUpdate(update)
  } catch {
    return null
  }
}

function missingOf(document: Y.Doc): Missing {
  const { pendingStructs, pendingDs } = document.store
  const missing = new Map(pendingStructs?.missing)
  if (pendingDs) {
    for (const client of Y.decodeUpdateV2(pendingDs).ds.clients.keys())
      missing.set(client, Y.getState(document.store, client))
  }
  return missing
}

/** Whether something has come of what was missing. */
export function hasCome(document: Y.Doc, missing: Missing): boolean {
  for (const [client, clock] of missing) if (Y.getState(document.store, client) > clock) return true
  return false
}
