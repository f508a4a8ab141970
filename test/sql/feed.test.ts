/** The horizon of the change feeds: what a reader may pass, and what it costs. */
import { setTimeout as delay } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { boardFeed } from '../../api/boards/feed.ts'
import { boardList } from '../../api/boards/list.ts'
import type { PendingQuery } from 'postgres'
import { cardFeed } from '../../api/cards/feed.ts'
import { openDatabase, type Transaction } from '../../sql/database.ts'
import { startWatchingFeeds } from '../../workers/upkeep/watch-feeds.ts'
import { makeBoard, makeCards, succeeded, type Shown } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
})
afterAll(() => service.stop())

/** A transaction that stays open until it is told to end. */
async function openTransaction(work: (tx: Transaction) => Promise<unknown>, as = user.userId) {
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>()
  const { promise: worked, resolve: begun, reject: failed } = Promise.withResolvers<void>()
  const run = service.database
    .asUser(as, async (tx) => {
      await work(tx).catch((error: unknown) => {
        failed(error)
        throw error
      })
      begun()
      await ended
    })
    .catch((error: unknown) => error)
  await worked
  return {
    async commit() {
      end()
      expect(await run).toBe(undefined)
    },
    async rollback() {
      fail(new Error('rolled back'))
      await run
    },
  }
}

const addBoard = (name: string) => (tx: Transaction) =>
  tx`insert into boards (workspace_id, name) values (${user.workspaceId}, ${name})`

const horizonOf = async (sql: Sql) =>
  (await sql`select feed_horizon() as at, clock_timestamp() as now`)[0]! as { at: Date; now: Date }

test('[F10] a change that was stamped before one that is seen, and committed after, is seen', async () => {
  const since = new Date().toISOString()
  const names = async (query: string) => {
    const body: any = succeeded(await user.api.get(`/boards?${query}&limit=1`))
    return {
      names: body.boards.map((board: Shown) => board['name']),
      next: `cursor=${encodeURIComponent(body.next_cursor)}`,
      more: body.has_more,
    }
  }
  const a = await openTransaction(addBoard('A'))
  const b = await openTransaction(addBoard('B'))
  await b.commit()
  const early = await names(`since=${since}`)
  expect(early).toMatchObject({ names: [], more: false })
  const c = await openTransaction(addBoard('C'))
  await a.commit()
  await c.rollback()
  await until(async () => (await names(early.next)).more, 'A and B are in the feed')
  const first = await names(early.next)
  expect(first.names).toEqual(['A'])
  expect((await names(first.next)).names).toEqual(['B'])
})

test('[F10] the same for cards', async () => {
  const board = await makeBoard(user)
  const [late, early] = await makeCards(user, board.id, [{}, {}])
  const read = async (query: string) => {
    const path = `/boards/${board.id}/cards?source=index&limit=1&${query}`
    const { cards, next_cursor, has_more } = succeeded(await user.api.get<any>(path))
    return {
      titles: cards.map((card: Shown) => card['title']),
      next: `cursor=${encodeURIComponent(next_cursor)}`,
      more: has_more,
    }
  }
  const since = `since=${new Date(Date.parse(early!['updated_at']) + 1).toISOString()}`
  const sql = postgres(service.databaseUrl, {
    max: 1,
    connection: { search_path: 'corkboard', role: 'corkboard_system' },
  })
  onTestFinished(() => sql.end())
  await until(
    async () => (await horizonOf(service.admin)).at > new Date(early!['updated_at']),
    'the cards are in the past',
  )
  await sql`begin`
  await sql`select set_config('test.at', stamp()::text, true)`
  await service.admin`
    update card_index set title = 'early', updated_at = stamp() where board_id = ${board.id} and card_id = ${early!.id}`
  const first = await read(since)
  expect(first).toMatchObject({ titles: [], more: false })
  await sql`
    update card_index set title = 'late', updated_at = current_setting('test.at')::timestamptz
    where board_id = ${board.id} and card_id = ${late!.id}`
  expect((await read(first.next)).titles).toEqual([])
  await sql`commit`
  await until(async () => (await read(first.next)).more, 'both are in the feed')
  const second = await read(first.next)
  expect(second.titles).toEqual(['late'])
  expect((await read(second.next)).titles).toEqual(['early'])
})

test('[F10] the statement after the horizon has a newer snapshot, whatever isolation the database defaults to', async () => {
  const elsewhere = await cloneDatabase()
  onTestFinished(() => elsewhere.drop())
  const [{ name }] = (await elsewhere.admin`select current_database() as name`) as any
  await elsewhere.admin.unsafe(`alter database ${name} set default_transaction_isolation = 'repeatable read'`)
  const database = openDatabase({ url: elsewhere.url, poolSize: 1 })
  onTestFinished(() => database.close())
  const counts = await database.asSystem(async (tx) => {
    const count = async () => (await tx`select count(*)::integer as count from users`)[0]!['count']
    const before = await count()
    await elsewhere.admin`insert into users (email) values ('late@example.test')`
    return [before, await count()]
  })
  expect(counts).toEqual([0, 1])
})

test('[F11] a stamp in any part of a second holds the horizon at that second, and in no other database', async () => {
  const elsewhere = await cloneDatabase()
  onTestFinished(() => elsewhere.drop())
  for (const part of [0.02, 0.3, 0.55, 0.9]) {
    await until(() => Math.abs((Date.now() % 1000) / 1000 - part) < 0.05, 'that part of a second', 2000)
    let stamped = 0
    const writer = await openTransaction(async (tx) => {
      stamped = (await tx<{ at: Date }[]>`select stamp() as at`)[0]!.at.getTime()
    })
    await delay(1000 * (1 - part)) // into the next second
    const { at, now } = await horizonOf(service.admin)
    expect(at.getTime()).toBe(Math.floor(stamped / 1000) * 1000)
    expect(at.getTime()).toBeLessThanOrEqual(stamped)
    const other = await horizonOf(elsewhere.admin)
    expect(other.at.getTime()).toBeGreaterThanOrEqual(now.getTime())
    await writer.rollback()
    const free = await horizonOf(service.admin)
    expect(free.at.getTime()).toBeGreaterThan(stamped)
    expect(free.at.getTime()).toBeLessThanOrEqual(free.now.getTime())
  }
  const [cut] = await service.admin`
    select bool_and(at = date_trunc('milliseconds', at)) as cut from (select feed_horizon() as at from generate_series(1, 100)) h`
  expect(cut).toEqual({ cut: true })
})

test('[F12] a writer that is stuck holds the feeds back for no longer than its timeout, and is reported', async () => {
  const logged: object[] = []
  const log = {
    info: () => {},
    error: () => {},
    debug: () => {},
    warn: (fields: object, message: string) => void logged.push({ ...fields, message }),
  }
  const watch = startWatchingFeeds({ database: service.database, log }, { intervalMs: 50, boundMs: 1500 })
  onTestFinished(() => watch.stop())
  const lag = async () => ((await (await fetch(`${service.url}/readyz`)).json()) as any).feed_lag_ms
  const free = await lag()
  expect(free).toBeGreaterThanOrEqual(0)
  expect(free).toBeLessThan(1500)

  const since = new Date().toISOString()
  const narrow = openDatabase({ url: service.databaseUrl, poolSize: 1, statementTimeoutMs: 3000 })
  onTestFinished(() => narrow.close())
  const stuck = narrow
    .asUser(user.userId, async (tx) => {
      await addBoard('stuck')(tx)
      await new Promise(() => {}) // its connection is lost when the server has had enough
    })
    .catch((error: unknown) => error)
  await until(async () => (await lag()) > 1500, 'the lag is reported', 5000)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  const board = await makeBoard(user, { name: 'behind it' })
  const seen = async () =>
    succeeded(await user.api.get<any>(`/boards?since=${since}`)).boards.map((one: Shown) => one.id)
  expect(await seen()).toEqual([])
  await until(() => logged.length > 0, 'the log names it')
  expect(logged[0]).toMatchObject({
    message: 'a transaction that does not end delays the change feeds; end these database sessions',
    lagMs: expect.any(Number),
    pids: [expect.any(Number)],
  })
  await until(async () => (await seen()).length > 0, 'the feed goes on', 5000)
  expect(await seen()).toEqual([board.id])
  expect(await stuck).toBeInstanceOf(Error)
  expect(await lag()).toBeLessThan(1500)
})

test('[F13] under row-level security a page of a feed or a list goes along the indexes: what it reads is what it shows', async () => {
  const [tenant, cards] = [await service.user(), await makeBoard(user)]
  const other = await service.user()
  const { admin } = service
  await admin`alter table boards disable trigger user`
  await admin`
    insert into boards (workspace_id, name, created_at, updated_at)
    select w, 'Board', at, at
    from generate_series(1, 20000) n,
      lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at) t,
      lateral (select case when n % 10 = 0 then ${tenant.workspaceId}::uuid else ${other.workspaceId}::uuid end as w) x`
  await admin`alter table boards enable trigger user`
  await admin`alter table card_index disable trigger user`
  await admin`
    insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
    select ${cards.id}, 'card' || n, ${user.workspaceId}, 'note', 0, 0, 280, 180, n, 0, '', 1, gen_random_uuid(), 'api', at, at
    from generate_series(1, 50000) n, lateral (select timestamptz '2026-01-01' + n * interval '1 millisecond' as at) t`
  await admin`alter table card_index enable trigger user`
  await admin`analyze boards, card_index`

  const plan = async (who: TestUser, query: (tx: Transaction) => PendingQuery<any>) =>
    service.database.asUser(who.userId, async (tx) => {
      const [row] = await tx`explain (analyze, timing off, format json) ${query(tx)}`
      return nodesOf(row!['QUERY PLAN'][0].Plan)
    })
  const from = { at: new Date('2026-01-01T01:00:00Z'), id: null }
  const horizon = new Date()
  for (const trash of [true, false]) {
    const nodes = await plan(tenant, (tx) => boardFeed(tx, { trash, limit: 50 }, from, horizon))
    const reads = nodes.filter((node) => node['Relation Name'] === 'boards')
    expect(reads.map((node) => node['Index Name'])).toContain('boards_feed')
    expect(reads.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([])
    expect(rowsRead(reads)).toBeLessThan(51 * 4)
  }
  const [parent] =
    await admin`select id from boards where workspace_id = ${tenant.workspaceId} order by created_at limit 1`
  await admin`
    update boards set parent_board_id = ${parent!['id']}
    where id = any (array(select id from boards where workspace_id = ${tenant.workspaceId} and id <> ${parent!['id']} order by created_at desc limit 30))`
  await admin`
    update boards set deleted_at = now()
    where id = any (array(select id from boards where workspace_id = ${tenant.workspaceId} and parent_board_id is null order by created_at desc limit 20))`
  await admin`analyze boards`
  for (const [list, most] of [
    [{ trash: false }, 51 * 4],
    [{ trash: false, offset: 50 }, 51 * 6],
    [{ trash: true }, 51 * 4],
    [{ trash: false, parent: parent!['id'] }, 31 * 5],
  ] as const) {
    const nodes = await plan(tenant, (tx) => boardList(tx, { limit: 51, ...list }))
    const reads = nodes.filter((node) => node['Relation Name'] === 'boards')
    expect(
      reads.filter((node) => node['Node Type'] === 'Seq Scan'),
      JSON.stringify(list),
    ).toEqual([])
    expect(rowsRead(reads), JSON.stringify(list)).toBeLessThan(most)
  }
  for (const removedSince of [null, new Date(0)]) {
    const inside = { at: new Date('2026-01-01T00:00:10Z'), id: 'card5' }
    const nodes = await plan(user, (tx) =>
      cardFeed(tx, cards.id, { limit: 50, removedSince }, inside, horizon),
    )
    const reads = nodes.filter((node) => node['Relation Name'] === 'card_index')
    expect(reads.map((node) => node['Index Name'])).toEqual(['card_index_feed'])
    expect(reads[0]!['Index Cond']).toMatch(/ROW\(updated_at, card_id\) > /)
    expect(nodes.filter((node) => /Sort/.test(node['Node Type']))).toEqual([])
    expect(rowsRead(reads)).toBeLessThan(60)
  }
})

type PlanNode = Record<string, any>
const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node['Plans'] ?? []).flatMap(nodesOf)]
const rowsRead = (nodes: PlanNode[]) =>
  nodes.reduce(
    (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  )
