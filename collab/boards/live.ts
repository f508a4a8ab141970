/** The parts that the API works with: the documents in memory, the commit path, the database. */
import type { Database } from '../../sql/database.ts'
import type { CommitQueue } from '../commit/commit.ts'
import type { Documents } from '../documents/documents.ts'
import type { Nodes } from '../documents/nodes.ts'
import { liveTimeoutMs, showHere, type Stale } from '../documents/show.ts'
import type { HistoryOptions } from '../log/history.ts'
import type { SafeHtml } from './safe-html.ts'
import type { WorkerPool } from '../../platform/work/worker-pool.ts'

export interface LiveBoards {
  database: Database
  queue: CommitQueue
  documents: Documents
  nodes: Nodes
  /** Threads for pure computations that would block the main thread. */
  pool: WorkerPool
  html: SafeHtml
  history: HistoryOptions
  /** Merges the board's log into its snapshot, and archives it. */
  compact(boardId: string): Promise<unknown>
  /** Called for each write with `live: false`. `other_node`: another node did not confirm it in time. */
  onStale?: ((reason: Stale | 'other_node') => void) | undefined
}

/**
 * Shows a committed change on the board's open canvases, before the request is answered.
 *
 * @returns false only when an open canvas may be stale: here, as `showHere` says; on another node, because that node
 * did not confirm it in time
 */
export async function showLive(
  { documents, nodes, onStale }: Pick<LiveBoards, 'documents' | 'nodes' | 'onStale'>,
  boardId: string,
  seq: number,
): Promise<boolean> {
  const [here, elsewhere] = await Promise.all([
    showHere({ documents, open: nodes.open }, boardId, seq),
    nodes.show(boardId, seq, liveTimeoutMs),
  ])
  if (here === 'shown' && elsewhere) return true
  onStale?.(here === 'shown' ? 'other_node' : here)
  return false
}

/** Does the same with all that any process has committed to the board. True for a board that is gone. */
export async function showNewest(live: LiveBoards, boardId: string): Promise<boolean> {
  const [head] = await live.database.asSystem(
    (tx) => tx<{ seq: number }[]>`select seq from board_documents where board_id = ${boardId}`,
  )
  return !head || showLive(live, boardId, head.seq)
}
