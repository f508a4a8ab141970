/** Waits until a board in memory contains what somebody needs to see. */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import type { BoardDocument } from './document.ts'

/** How long a canvas that opens, and a request, wait for the document to catch up. */
const [reachWithinMs, caughtUpWithinMs] = [5000, 10_000]

/** @throws ServiceError `session_unavailable` when that takes too long */
export async function caughtUpSoon(board: BoardDocument): Promise<void> {
  if (!board.isCatchingUp) return
  await Promise.race([board.caughtUp(), delay(caughtUpWithinMs, undefined, { ref: false })])
  if (board.isCatchingUp) throw outOfDate()
}

/**
 * Resolves when a canvas may be shown the board, with everything up to this position.
 *
 * @throws ServiceError `session_unavailable` when that takes too long
 */
export async function showable(board: BoardDocument, seq: number): Promise<void> {
  if (board.isBuilt) await caughtUpSoon(board)
  board.noticed(seq)
  if (board.appliedSeq >= seq) return
  await Promise.race([board.caughtUp(), delay(reachWithinMs, undefined, { ref: false })])
  if (board.appliedSeq < seq) throw outOfDate()
}

const outOfDate = () =>
  new ServiceError('session_unavailable', 'The live document is out of date. Try again shortly.')
