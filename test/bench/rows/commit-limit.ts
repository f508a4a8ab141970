/** What PostgreSQL takes without Corkboard in front: calls of `commit_batch` by connections in closed loops. */
import { randomUUID } from 'node:crypto'
import postgres, { type Sql } from 'postgres'
import { frame } from '../../../collab/log/log.ts'
import { callCommit, type CommitItem } from '../../../sql/commit-call.ts'
import { editStream } from '../load/edits.ts'
import { formatNumber } from '../table.ts'

/** Connections, and edits in each call, each of another board. A node has one call in flight. */
const shapes = [
  { connections: 1, edits: 1 },
  { connections: 8, edits: 1 },
  { connections: 32, edits: 1 },
  { connections: 1, edits: 50 },
  { connections: 8, edits: 50 },
]

export async function commitLimit(
  databaseUrl: string,
  createBoards: (count: number) => Promise<string[]>,
  seconds: number,
): Promise<string> {
  const lines: string[] = []
  for (const { connections, edits } of shapes) {
    const boards = await createBoards(connections * edits)
    const sql = connect(databaseUrl, connections)
    try {
      const loops = Array.from({ length: connections }, (_, n) =>
        commitFor(sql, boards.slice(n * edits, (n + 1) * edits), seconds),
      )
      const calls = (await Promise.all(loops)).reduce((sum, count) => sum + count, 0) / seconds
      const what = edits === 1 ? '1 edit' : `${edits} edits`
      lines.push(
        `${connections} connections, ${what} a call: ${formatNumber(calls)} commits/s, ` +
          `${formatNumber(calls * edits)} edits/s`,
      )
    } finally {
      await sql.end()
    }
  }
  return ['PostgreSQL alone, by calls of commit_batch in closed loops:', ...lines].join('\n')
}

/** @returns the number of calls that committed all of their edits */
async function commitFor(sql: Sql, boards: string[], seconds: number): Promise<number> {
  const endMs = performance.now() + seconds * 1000
  let calls = 0
  for (let n = 0; performance.now() < endMs; n++) {
    const framed = Buffer.concat(frame([editStream(0).at(n).update]))
    const items = boards.map((board, at): CommitItem => ({
      n: at,
      board,
      kind: 'edit',
      actors: [],
      blob_at: 0,
      blob_bytes: framed.length,
    }))
    const call = { commitId: randomUUID(), freeCardCap: null, items: JSON.stringify(items), blob: framed }
    const answer = await callCommit(sql as never, { ...call, rows: null, groups: null, removed: null }, false)
    const { items: refused } = answer as { items: [n: number, outcome: string][] }
    // The node may hold a board just then, to write its index rows.
    if (refused.some(([, outcome]) => outcome !== 'busy'))
      throw new Error(`edits were not committed: ${JSON.stringify(refused)}`)
    if (refused.length === 0) calls += 1
  }
  return calls
}

/** Number of commits so far. */
export async function countCommits(databaseUrl: string): Promise<number> {
  const sql = connect(databaseUrl, 1)
  try {
    const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from commits`
    return row!.count
  } finally {
    await sql.end()
  }
}

const connect = (databaseUrl: string, max: number) =>
  postgres(databaseUrl, { max, onnotice: () => {}, connection: { search_path: 'corkboard' } })
