/** Shows a committed position on the canvases that are open in this process. */
import { setTimeout as delay } from 'node:timers/promises'
import type { BoardDocument } from './document.ts'
import type { Canvas } from './fan-out.ts'
import type { OpenBoards } from './open-boards.ts'

/** How long an answer waits until the open canvases show the change. */
export const liveTimeoutMs = 500
const lookEveryMs = 5

export interface ShowOptions {
  documents: { find(boardId: string): BoardDocument | null }
  open: OpenBoards
}

/**
 * Why a canvas may be stale. `loading`: the document of a canvas that opens is not loaded. `behind`: the document does
 * not contain the position. `unread`: a canvas has too many unread bytes, or is being closed. `missed`: one was closed
 * because it reads too slowly.
 */
export type Stale = 'loading' | 'behind' | 'unread' | 'missed'

/**
 * Sends the document's pending changes to its canvases, and waits until the sockets have sent them. A canvas that is
 * about to open gets a document that contains the position.
 *
 * @returns why a canvas may be stale, or `shown`
 */
export async function showHere(
  { documents, open }: ShowOptions,
  boardId: string,
  seq: number,
): Promise<'shown' | Stale> {
  const deadline = performance.now() + liveTimeoutMs
  let board = documents.find(boardId)
  while (!board && open.has(boardId) && performance.now() < deadline) {
    await delay(lookEveryMs)
    board = documents.find(boardId)
  }
  if (!board) return open.has(boardId) ? 'loading' : 'shown'
  if (!open.has(boardId)) return missedOrShown(board, seq)
  board.noticed(seq)
  if (board.appliedSeq < seq) await caughtUpBy(board, deadline)
  if (board.appliedSeq < seq) return 'behind'
  board.document.flush()
  await written()
  const staleMs = () => Math.max(behindMs(board), open.closingMs(boardId))
  for (let ms = staleMs(); ms > 0; ms = staleMs()) {
    // A canvas that has been behind for long does not delay each new write.
    if (ms >= liveTimeoutMs || performance.now() >= deadline) return 'unread'
    await delay(lookEveryMs)
  }
  return missedOrShown(board, seq)
}

/** Sockets write at the end of the tick. Without the wait, the answer would be written first. */
const written = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

async function caughtUpBy(board: BoardDocument, deadline: number): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.max(1, deadline - performance.now()))
  await Promise.race([board.caughtUp(), timedOut])
  clearTimeout(timer)
}

const missedOrShown = (board: BoardDocument, seq: number) => (board.hasMissed(seq) ? 'missed' : 'shown')

/** For how long the slowest canvas has been behind. */
function behindMs(board: BoardDocument): number {
  let most = 0
  for (const { webSocket } of board.document.connections.keys())
    most = Math.max(most, (webSocket as unknown as Canvas).behindMs)
  return most
}
