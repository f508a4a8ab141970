/** What the API works with: the documents in memory, the commit path, the index. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../sql/database.ts'
import type { CommitQueue } from './commit.ts'
import type { Documents } from './documents.ts'
import type { Nodes } from './nodes.ts'

export interface LiveBoards {
  database: Database
  queue: CommitQueue
  documents: Documents
  /** Null: this process is the only one. */
  nodes: Nodes | null
}

/** How long an answer waits for open canvases to have the change. */
const liveTimeoutMs = 500

/**
 * Brings a committed change to the open canvases of a board before the answer goes out.
 *
 * @returns false only when some open canvas may be stale: here, because its document is still catching up; on another
 *   node, because that node did not confirm it in time
 */
export async function showLive(live: LiveBoards, boardId: string, seq: number): Promise<boolean> {
  const elsewhere = live.nodes?.show(boardId, seq, liveTimeoutMs) ?? true
  const board = live.documents.find(boardId)
  if (board && board.editors > 0) {
    if (board.appliedSeq < seq) await Promise.race([board.settled(), delay(liveTimeoutMs)])
    if (board.appliedSeq < seq) return false
    board.document.flush()
  }
  return elsewhere
}
