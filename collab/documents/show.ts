/** Brings a committed position to the canvases that are open in this process. */
import { setTimeout as delay } from 'node:timers/promises'
import type { BoardDocument } from './document.ts'

/** How long an answer waits for open canvases to have the change. */
export const liveTimeoutMs = 500
const lookEveryMs = 5

/**
 * Sends what the document holds to its canvases, and waits until their sockets have taken it.
 *
 * @returns false when a canvas may be stale: the document does not hold the position in time, a canvas has left more
 *   unread than a small bound, or one was closed because it reads too slowly
 */
export async function showHere(board: BoardDocument, seq: number): Promise<boolean> {
  if (board.editors === 0) return !board.hasMissed(seq)
  const deadline = performance.now() + liveTimeoutMs
  if (board.appliedSeq < seq) await Promise.race([board.caughtUp(), delay(liveTimeoutMs)])
  if (board.appliedSeq < seq) return false
  board.document.flush()
  for (let ms = behindMs(board); ms > 0; ms = behindMs(board)) {
    // Who is behind since long is not waited for anew at each write.
    if (ms >= liveTimeoutMs || performance.now() >= deadline) return false
    await delay(lookEveryMs)
  }
  return !board.hasMissed(seq)
}

/** A connection's socket, as the gateway hands it to Hocuspocus. */
export interface Canvas {
  /** How long more than a little has been unread; 0 when it is read. */
  readonly behindMs: number
}

/** For how long the slowest canvas has had more than a little unread. */
function behindMs(board: BoardDocument): number {
  let most = 0
  for (const { webSocket } of board.document.connections.keys())
    most = Math.max(most, (webSocket as unknown as Canvas).behindMs)
  return most
}
