/**
 * Applies an editor's update to a document. The update is checked first. A large one takes several turns; one that
 * builds on missing edits waits for them.
 */
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import { refuseUpdate, type AdmitBounds, type Refused } from '../updates/admit.ts'
import type { TurnOrigin } from '../documents/origin.ts'
import { countDeleted, countRanges, cutOffDeletes, isManyDeleted, maxRanges } from '../updates/cut.ts'
import type { BoardDocument } from '../documents/document.ts'
import {
  metered,
  spendOnDeletes,
  stepsFor,
  stepsOfDeletedStructs,
  stepsOfDeletes,
  stepsPerTurn,
  stepsToDecode,
  TooCostly,
  TurnOver,
  type MergeBounds,
  type Meter,
} from '../updates/meter.ts'

export interface ApplyBounds extends AdmitBounds, MergeBounds {
  /** The largest total size of a board's uncommitted edits. Above it, updates are refused. */
  maxQueuedBytes: number
}

/** By client: the clock of the first missing edit. */
export type Missing = ReadonlyMap<number, number>

export type Applied =
  | { kind: 'applied' }
  /** The turn's time is used up. Applying the same update again continues where this call stopped. */
  | { kind: 'unfinished' }
  /** Too many deletions for one turn. Nothing was applied. Applying all `parts` has the same effect as the update. */
  | { kind: 'cut'; parts: Uint8Array[] }
  | { kind: 'waits'; missing: Missing }
  | ({ kind: 'refused' } & Refused)

export interface ApplyOptions {
  account: string
  origin: TurnOrigin
  /** Size of the whole update, of which this may be a part. */
  sizeBytes: number
  meter: Meter
  bounds: ApplyBounds
  log: Logger
}

/**
 * Applies an update. Call it within a transaction.
 *
 * An update that waits has been applied in part. Yjs would keep the rest in the document and apply it later, but
 * without an 'update' event: the rest would never reach the log. So the rest is dropped here, and the caller applies
 * the update again.
 *
 * An update that proves too costly is refused. The part that was applied stays in the document and is logged.
 */
export function applyUpdate(board: BoardDocument, update: Uint8Array, options: ApplyOptions): Applied {
  const { account, origin, sizeBytes, meter, bounds, log } = options
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
  if (structs.length > 0 && !board.hasRoom) return refuse(closeCodes.noMemory)
  const deleteSteps = stepsOfDeletes(document, ds.clients)
  const deleted = countDeleted(document, ds)
  const isLong = (countRanges(ds) > maxRanges && deleteSteps > stepsPerTurn) || isManyDeleted(deleted)
  if (isLong) return { kind: 'cut', parts: cutOffDeletes(document, structs, ds) }

  const { store } = document
  const { pendingStructs, pendingDs } = store
  store.pendingStructs = null
  store.pendingDs = null
  const stepsBefore = meter.steps
  // Updates that were queued earlier may have used up the document's steps since this one arrived.
  meter.maxSteps = stepsFor(sizeBytes, board.mergeSteps - stepsBefore, bounds)
  try {
    metered(meter, () => Y.applyUpdate(document, update, origin))
    spendOnDeletes(meter, deleteSteps)
    const missing = missingOf(document)
    return missing.size > 0 ? { kind: 'waits', missing } : { kind: 'applied' }
  } catch (error) {
    if (error instanceof TurnOver) return { kind: 'unfinished' }
    if (error instanceof TooCostly) return refuse(closeCodes.tooCostly)
    // The part that Yjs integrated is in memory, and will be in the log.
    log.warn({ err: error, boardId: board.boardId, account }, 'applying an editor’s update failed halfway')
    return { kind: 'refused', ...closeCodes.badFrame }
  } finally {
    board.merged(meter.steps - stepsBefore)
    meter.turnSteps -=
      stepsToDecode(update, structs.length + countRanges(ds)) + stepsOfDeletedStructs(deleted)
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

/** Whether the document now has some of the missing edits. */
export function hasCome(document: Y.Doc, missing: Missing): boolean {
  for (const [client, clock] of missing) if (Y.getState(document.store, client) > clock) return true
  return false
}
