/** What the API works with: the documents in memory, the commit path, the index. */
import type { Database } from '../../sql/database.ts'
import type { CommitQueue } from '../commit/commit.ts'
import type { Documents } from '../documents/documents.ts'
import type { Nodes } from '../documents/nodes.ts'
import { liveTimeoutMs, showHere } from '../documents/show.ts'
import type { SafeHtml } from './safe-html.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'

export interface LiveBoards {
  database: Database
  queue: CommitQueue
  documents: Documents
  /** Null: this process is the only one. */
  nodes: Nodes | null
  /** For pure work of requests that would hold up the main thread. */
  pool: WorkerPool
  html: SafeHtml
}

/**
 * Brings a committed change to the open canvases of a board before the answer goes out.
 *
 * @returns false only when some open canvas may be stale: here, as `showHere` says; on another node, because that node
 *   did not confirm it in time
 */
export async function showLive(live: LiveBoards, boardId: string, seq: number): Promise<boolean> {
  const elsewhere = live.nodes?.show(boardId, seq, liveTimeoutMs) ?? true
  const board = live.documents.find(boardId)
  if (board && !(await showHere(board, seq))) return false
  return elsewhere
}
