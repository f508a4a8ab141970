import { randomUUID } from 'node:crypto'
import { piecesOf } from './commit-call.ts'
import type { Database } from './database.ts'

/** Sends bytes ahead of the statement that takes them by `take_staged_bytes(id, pieces)`. */
export async function stageBytes(
  database: Pick<Database, 'callAsSystem'>,
  bytes: Uint8Array,
): Promise<{ id: string; pieces: number }> {
  const id = randomUUID()
  let pieces = 0
  for (const piece of piecesOf([bytes])) {
    const n = pieces++
    await database.callAsSystem((sql) => sql`select stage_commit_piece(${id}, 'blob', ${n}, ${piece})`)
  }
  return { id, pieces }
}
