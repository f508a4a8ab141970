/** How an editor's update gets into a document: admitted, applied, or put off until what it builds on is there. */
import * as Y from 'yjs'
import { closeCodes } from '../core/errors.ts'
import type { Logger } from '../platform/log.ts'
import { refuseUpdate, type AdmitBounds, type Refused } from './admit.ts'
import type { BoardDocument } from './document.ts'

export interface ApplyBounds extends AdmitBounds {
  /** Edits of one board that wait for their commit. */
  maxQueuedBytes: number
}

/** Origin of a transaction that holds the edits of several connections. */
export interface TurnOrigin {
  source: 'local'
  skipStoreHooks: boolean
  actors: string[]
  frames: number
}

/** By client: clocks from which on something is missing. */
export type Missing = ReadonlyMap<number, number>

export type Applied =
  { kind: 'applied' } | { kind: 'waits'; missing: Missing } | ({ kind: 'refused' } & Refused)

/**
 * To be called within a transaction. An update that waits has been applied as far as it goes. Yjs would keep the rest in
 * the document, and apply it when it can; but no 'update' event tells of it, and the log would not hold it.
 */
export function applyUpdate(
  board: BoardDocument,
  update: Uint8Array,
  options: { account: string; origin: TurnOrigin; bounds: ApplyBounds; log: Logger },
): Applied {
  const { account, origin, bounds, log } = options
  const { document } = board
  const refused =
    board.queue.editBytes > bounds.maxQueuedBytes
      ? closeCodes.tryLater
      : refuseUpdate(document, board.sizeBytes, update, bounds)
  if (refused) {
    log.warn({ boardId: board.boardId, account, code: refused.code }, 'an editor’s update was refused')
    return { kind: 'refused', ...refused }
  }
  const { store } = document
  const { pendingStructs, pendingDs } = store
  store.pendingStructs = null
  store.pendingDs = null
  try {
    Y.applyUpdate(document, update, origin)
    const missing = missingOf(document)
    return missing.size > 0 ? { kind: 'waits', missing } : { kind: 'applied' }
  } catch (error) {
    // What it had integrated by then is in memory and will be in the log.
    log.warn({ err: error, boardId: board.boardId, account }, 'an editor’s update broke off')
    return { kind: 'refused', ...closeCodes.badFrame }
  } finally {
    store.pendingStructs = pendingStructs
    store.pendingDs = pendingDs
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
