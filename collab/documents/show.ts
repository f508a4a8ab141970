/** Shows a committed position on the canvases that are open in this process. */
import { setTimeout as delay } from 'node:timers/promises'
import type { BoardDocument } from './document.ts'

/** How long an answer waits until the open canvases show the change. */
export const liveTimeoutMs = 500
const lookEveryMs = 5

/**
 * Sends the document's pending changes to its canvases, and waits until the sockets have sent them.
 *
 * @returns false when a canvas may be stale. This is so when the document does not contain the position in time, when a
 * canvas has too many unread bytes, or when one was closed because it reads too slowly.
 */
export async function showHere(board: BoardDocument, seq: number): Promise<boolean> {
  if (board.editors === 0) return !board.hasMissed(seq)
  const deadline = performance.now() + liveTimeoutMs
  if (board.appliedSeq < seq) await Promise.race([board.caughtUp(), delay(liveTimeoutMs)])
  if (board.appliedSeq < seq) return false
  board.document.flush()
  for (let ms = behindMs(board); ms > 0; ms = behindMs(board)) {
    // A canvas that has been behind for long does not delay each new write.
    if (ms >= liveTimeoutMs || performance.now() >= deadline) return false
    await delay(lookEveryMs)
  }
  return !board.hasMissed(seq)
}

/** The part of a connection's socket that is used here. The gateway passes the socket to Hocuspocus. */
export interface Canvas {
  /** For how long the socket has had more unread bytes than a small limit; 0 when it is up to date. */
  readonly behindMs: number
}

/** For how long the slowest canvas has been behind. */
function behindMs(board: BoardDocument): number {
  let most = 0
  for (const { webSocket } of board.document.connections.keys())
    most = Math.max(most, (webSocket as unknown as Canvas).behindMs)
  return most
}
