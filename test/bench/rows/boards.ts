import type { Sql } from 'postgres'
import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import type { ApiRequest } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'

const batchBoards = 500
const treeBoards = 20_000
/** Number of boards below each board of the tree. */
const branches = 50
const requestsPerRun = 15

/**
 * Cost of many boards through the API, compared with bare statements on the same tables, without rights, checks or
 * JSON.
 */
export const boards: Measure = {
  name: 'boards',
  summary: `POST of ${batchBoards} boards, and a tree of ${formatNumber(treeBoards)}, against the bare SQL`,
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql) => {
      const corkboard = await bench.corkboard()
      const workspaceId = await makeWorkspace(sql)
      const rows = [await batch(bench, corkboard, sql, workspaceId)]
      const treeWorkspaceId = await makeWorkspace(sql)
      bench.progress(`making a tree of ${formatNumber(treeBoards)} boards`)
      const root = await plant(corkboard, treeWorkspaceId)
      await sql`analyze boards, board_documents`
      rows.push(
        await tree(
          bench,
          corkboard,
          'tree of a workspace',
          `workspace=${treeWorkspaceId}`,
          () => sql`
            select id, null::uuid as parent_board_id, name, 0 as depth, created_at, updated_at, false as deleted
            from boards
            where workspace_id = ${treeWorkspaceId} and parent_board_id is null and deleted_at is null`,
          sql,
        ),
        await tree(
          bench,
          corkboard,
          'tree below a board',
          `root=${root}`,
          () => sql`
            select id, parent_board_id, name, 0 as depth, created_at, updated_at, false as deleted
            from boards
            where id = ${root}`,
          sql,
        ),
      )
      return rows
    }),
}

async function makeWorkspace(sql: Sql): Promise<string> {
  const [made] = await sql<{ id: string }[]>`
    insert into workspaces (name, owner_id)
    select 'Bench', id from users where email like 'bench-%'
    returning id`
  return made!.id
}

async function batch(bench: Bench, corkboard: CardServer, sql: Sql, workspaceId: string): Promise<Row> {
  const entries = Array.from({ length: batchBoards }, (_, n) => ({
    name: `Scene ${n}`,
    view: 'list',
    scheduled_date: '2030-01-02',
    props: { status: 'open', take: n },
  }))
  const request: ApiRequest = {
    method: 'POST',
    path: '/boards',
    cards: 0,
    body: JSON.stringify({ workspace_id: workspaceId, boards: entries }),
  }
  const rows = entries.map((entry) => ({ ...entry, workspace_id: workspaceId, props: sql.json(entry.props) }))
  const name = `POST of ${batchBoards} boards`
  const compared = await compare(
    bench,
    name,
    {
      subject: () => requestsP50Ms(bench, corkboard, request),
      reference: () => medianMs(() => sql`insert into boards ${sql(rows as never)} returning *`),
    },
    (ms) => `p50 ${formatNumber(ms)} ms`,
  )
  return rowOf(compared, (ms) => ms, {
    name,
    unit: 'ms p50',
    referenceName: 'bare insert',
    target: { atMost: 1.5 },
  })
}

/** Makes a tree of boards in which each inner board has `branches` boards below it. */
async function plant(corkboard: CardServer, workspaceId: string): Promise<string> {
  const ids: string[] = []
  const post = async (entries: object[]) => {
    const response = await fetch(`${corkboard.api.root}/boards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${corkboard.api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ boards: entries }),
    })
    if (response.status !== 201) throw new Error(`POST /boards answered ${response.status}`)
    const { boards } = (await response.json()) as { boards: { id: string }[] }
    ids.push(...boards.map(({ id }) => id))
  }
  await post([{ name: 'Root', workspace_id: workspaceId }])
  while (ids.length < treeBoards) {
    // Parents must exist before their children are sent.
    const count = Math.min(batchBoards, treeBoards - ids.length, ids.length * branches)
    const parent = (n: number) => ids[Math.floor((ids.length - 1 + n) / branches)]
    await post(Array.from({ length: count }, (_, n) => ({ name: `Scene ${n}`, parent_board_id: parent(n) })))
  }
  return ids[0]!
}

async function tree(
  bench: Bench,
  corkboard: CardServer,
  what: string,
  start: string,
  top: () => ReturnType<Sql>,
  sql: Sql,
): Promise<Row> {
  const name = `${what}, ${formatNumber(treeBoards)} boards`
  const request: ApiRequest = { method: 'GET', path: `/boards/tree?${start}`, cards: 0 }
  const compared = await compare(
    bench,
    name,
    {
      subject: () => requestsP50Ms(bench, corkboard, request),
      reference: () =>
        medianMs(
          () => sql`
            with recursive tree as (
              ${top()}
              union all
              select b.id, b.parent_board_id, b.name, t.depth + 1, b.created_at, b.updated_at, false
              from tree t
              join boards b on b.parent_board_id = t.id
              where t.depth < 10 and b.deleted_at is null
            )
            select t.*, d.card_count
            from tree t
            join board_documents d on d.board_id = t.id
            order by t.depth, t.created_at, t.id`,
        ),
    },
    (ms) => `p50 ${formatNumber(ms)} ms`,
  )
  return rowOf(compared, (ms) => ms, {
    name,
    unit: 'ms p50',
    referenceName: 'bare query',
    target: { atMost: 1.5 },
  })
}

async function requestsP50Ms(bench: Bench, corkboard: CardServer, request: ApiRequest): Promise<number> {
  const { p50Ms } = await bench.load.run('requests', {
    api: corkboard.api,
    requests: [request],
    connections: 1,
    until: { count: requestsPerRun },
  })
  return p50Ms
}

async function medianMs(run: () => PromiseLike<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < requestsPerRun; n++) {
    const startMs = performance.now()
    await run()
    times.push(performance.now() - startMs)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(requestsPerRun / 2)]!
}
