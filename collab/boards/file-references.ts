/** Finds the files that a board's cards refer to, in all fields: also in those that only the editor understands. */
import { limits } from '../../core/limits.ts'
import { task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import type { Database } from '../../sql/database.ts'
import type { fileKeysOfBoard, fileKeysOfRemoved } from './file-keys.ts'
import { ownBuffers, tail } from '../log/log.ts'

export interface FileReference {
  image_key: string
  /**
   * For a file that only removed cards refer to: when they can't be restored any more. Null: a live card refers to it.
   */
  until: Date | null
}

const dayMs = 24 * 60 * 60 * 1000

/** A worker thread takes about two seconds for a large board, and much longer on a busy machine. */
const timeoutMs = 60_000
/** Removed cards that are read from the database at once. */
const removedAtOnce = 20

const boardTask = task<typeof fileKeysOfBoard>(new URL('./file-keys.ts', import.meta.url), 'fileKeysOfBoard')
const removedTask = task<typeof fileKeysOfRemoved>(
  new URL('./file-keys.ts', import.meta.url),
  'fileKeysOfRemoved',
)

/**
 * Returns the references at a position of the board's log; null when the board does not exist. Documents are read in
 * worker threads.
 */
export async function fileReferences(
  database: Database,
  pool: WorkerPool,
  boardId: string,
): Promise<{ position: number; references: FileReference[] } | null> {
  const log = await tail(database, boardId, 0)
  if (!log) return null
  const { snapshot, updates, ownerId, seq } = log
  const options = { account: ownerId, timeoutMs }
  const found = new Map<string, Date | null>()
  // Removed cards first: a reference by a live card has no end, and replaces theirs.
  const removed = await database.asSystem(
    (tx) => tx<{ token: string; removed_at: Date }[]>`
      select restore_token as token, removed_at from removed_cards where board_id = ${boardId} order by removed_at`,
  )
  for (let from = 0; from < removed.length; from += removedAtOnce) {
    const some = removed.slice(from, from + removedAtOnce)
    const states = await statesOf(
      database,
      some.map(({ token }) => token),
    )
    const keys = await pool.run(
      removedTask,
      some.flatMap(({ token }) => states.get(token) ?? []),
      options,
    )
    const kept = some.filter(({ token }) => states.has(token))
    for (const [at, { removed_at }] of kept.entries())
      for (const key of keys[at]!) found.set(key, new Date(removed_at.getTime() + limits.trashDays * dayMs))
  }
  for (const key of await pool.run(
    boardTask,
    { snapshot, updates },
    { ...options, transfer: ownBuffers(log) },
  ))
    found.set(key, null)
  return { position: seq, references: [...found].map(([image_key, until]) => ({ image_key, until })) }
}

/** The states of removed cards, by token. Cards that were purged meanwhile are missing. */
async function statesOf(database: Database, tokens: string[]): Promise<Map<string, Uint8Array>> {
  const rows = await database.asSystem(
    (tx) => tx<{ token: string; state: Buffer }[]>`
      select restore_token as token, state from removed_cards where restore_token = any (${tokens}::uuid[])`,
  )
  return new Map(rows.map(({ token, state }) => [token, state]))
}
