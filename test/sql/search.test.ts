/** The search function in the database: what it may see, which indexes it uses, its bound, and how its index is kept. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { openLog } from '../../server/log.ts'
import { SearchIndexer } from '../../workers/search/search.ts'
import type { TestDatabase } from '../support/database.ts'
import { databaseOfFile } from '../support/test-file.ts'

const log = openLog('silent', [])
const { testDatabase, database } = await databaseOfFile()
const indexer = new SearchIndexer({ database, log })
const indexed = (boards: string[]) => indexer.catchUp(boards, { account: 'anybody', timeoutMs: 60_000 })

const hits = (
  account: string,
  cards: boolean,
  phrase: string,
  { workspace = null as string | null, limit = 10_000 } = {},
) =>
  database.search(async (sql) => {
    const rows = await sql<{ what: string; board_id: string; card_id: string }[]>`
      select what, board_id, card_id from search(
        ${account}, ${!cards}, ${cards}, ${phrase}, ${phrase.split(' ')}::text[], ${workspace}::uuid, 2000, ${limit}, 0, false
      )`
    expect(rows.every(({ what }) => what === (cards ? 'card' : 'board'))).toBe(true)
    return rows.map((row) => row)
  })
const pending = (account: string) =>
  database.search(async (sql) => {
    const rows = await sql<{ board_id: string }[]>`
      select board_id from search(${account}, true, true, 'granite', '{granite}', null, 2000, 100, 0, true) where what = 'pending'`
    return rows.map((row) => row.board_id)
  })
const everyBoard = async () =>
  (await testDatabase.admin<{ id: string }[]>`select id from boards`).map(({ id }) => id)

async function makeUser(): Promise<string> {
  const id = randomUUID()
  await testDatabase.admin`insert into users (id, email, tier) values (${id}, ${id}, 'pro')`
  return id
}
async function makeWorkspace(owner: string, boards: number): Promise<{ id: string; boards: string[] }> {
  const id = randomUUID()
  await testDatabase.admin`insert into workspaces (id, name, owner_id) values (${id}, 'w', ${owner})`
  const made = await testDatabase.admin<{ id: string }[]>`
    insert into boards (workspace_id, name) select ${id}, 'granite ' || i from generate_series(1, ${boards}) i returning id`
  return { id, boards: made.map((row) => row.id) }
}
async function addCards(board: string, texts: { title?: string; body?: string }[]): Promise<void> {
  await testDatabase.admin`
    insert into card_index (board_id, card_id, workspace_id, kind, title, body, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
    select b.id, 'c' || md5(t.title || t.body || t.n || random()), b.workspace_id, 'note', t.title, t.body, 0, 0, 1, 1, 0, 0, '', 0,
      gen_random_uuid(), 'api', now(), timestamptz '2026-01-01' + t.n * interval '1 second'
    from boards b, unnest(${texts.map(({ title }) => title ?? '')}::text[], ${texts.map(({ body }) => body ?? '')}::text[])
      with ordinality as t(title, body, n)
    where b.id = ${board}`
}

const user = fc.nat({ max: 3 })
const grant = fc.tuple(fc.nat({ max: 5 }), user)

test('[Q10] in any world of members, shares, trash and removed cards the search and the policies agree', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ owner: user, boards: fc.integer({ min: 1, max: 3 }) }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(grant, { maxLength: 4 }),
      fc.array(grant, { maxLength: 6 }),
      fc.array(fc.nat({ max: 8 }), { maxLength: 2 }),
      async (plan, members, shares, trashed) => {
        const users = await Promise.all([0, 1, 2, 3].map(makeUser))
        const workspaces = []
        for (const { owner, boards } of plan) workspaces.push(await makeWorkspace(users[owner]!, boards))
        const boards = workspaces.flatMap((workspace) => workspace.boards)
        for (const board of boards)
          await addCards(board, [{ title: 'granite' }, { body: 'a granite wall' }, { title: 'granite gone' }])
        await testDatabase.admin`update card_index set deleted_at = now(), updated_at = now() where title = 'granite gone' and deleted_at is null`
        for (const at of trashed)
          await testDatabase.admin`update boards set deleted_at = now() where id = ${boards[at % boards.length]!}`
        for (const [at, who] of members)
          await testDatabase.admin`
            insert into workspace_members (workspace_id, user_id, role) values (${workspaces[at % workspaces.length]!.id}, ${users[who]!}, 'viewer') on conflict do nothing`
        for (const [at, who] of shares)
          await testDatabase.admin`
            insert into board_shares (board_id, user_id, role) values (${boards[at % boards.length]!}, ${users[who]!}, 'viewer') on conflict do nothing`
        await indexed(boards)
        for (const account of users) {
          for (const workspace of [null, workspaces[0]!.id]) {
            const seen = await database.asUser(account, async (tx) => ({
              boards: await tx<{ id: string }[]>`
                select id from boards where deleted_at is null and (${workspace}::uuid is null or workspace_id = ${workspace}) order by id`,
              cards: await tx<{ id: string }[]>`
                select c.board_id || c.card_id as id from card_index c join boards b on b.id = c.board_id and b.deleted_at is null
                where c.deleted_at is null and (${workspace}::uuid is null or c.workspace_id = ${workspace}) order by 1`,
            }))
            const foundBoards = (await hits(account, false, 'granite', { workspace })).map(
              (row) => row.board_id,
            )
            const foundCards = (await hits(account, true, 'granite', { workspace })).map(
              (row) => row.board_id + row.card_id,
            )
            expect(foundBoards.toSorted()).toEqual(seen.boards.map(({ id }) => id).toSorted())
            expect(foundCards.toSorted()).toEqual(seen.cards.map(({ id }) => id).toSorted())
          }
          expect(await pending(account)).toEqual([])
        }
      },
    ),
    { numRuns: 15 },
  )
  const [stranger, owner, guest] = [await makeUser(), await makeUser(), await makeUser()]
  const { boards } = await makeWorkspace(owner, 2)
  await testDatabase.admin`insert into board_shares (board_id, user_id, role) values (${boards[1]!}, ${guest}, 'viewer')`
  await testDatabase.admin`insert into search_pending (board_id, workspace_id, changed_at) select id, workspace_id, now() from boards`
  expect(await pending(stranger)).toEqual([])
  expect((await pending(owner)).toSorted()).toEqual(boards.toSorted())
  expect(await pending(guest)).toEqual([boards[1]])
  await testDatabase.admin`delete from search_pending`
})

test('[Q11] of more matches than are ranked the title that begins with the query is first, then the newest; pages are whole and end', async () => {
  const owner = await makeUser()
  const { boards } = await makeWorkspace(owner, 1)
  const [board] = boards as [string]
  await addCards(board, [
    { title: 'ab' },
    { title: 'abacus' },
    ...Array.from({ length: 6000 }, (_, n) => ({ body: `x${n} about` })),
    { body: 'newest about' },
  ])
  await indexed(boards)
  const all = await hits(owner, true, 'ab')
  expect(all.length).toBeGreaterThanOrEqual(2000)
  expect(all.length).toBeLessThanOrEqual(6001)
  expect(new Set(all.map(({ card_id }) => card_id)).size).toBe(all.length)
  const titles = await testDatabase.admin<{ card_id: string; title: string; body: string }[]>`
    select card_id, title, body from card_index where board_id = ${board} and card_id = any (${all.slice(0, 3).map((row) => row.card_id)})`
  const shown = all.slice(0, 3).map(({ card_id }) => titles.find((row) => row.card_id === card_id))
  expect(shown.map((row) => row!.title || row!.body)).toEqual(['ab', 'abacus', 'newest about'])
  expect(await hits(owner, true, 'ab')).toEqual(all)
  expect(await hits(owner, true, 'ab', { limit: 500 })).toEqual(all.slice(0, 500))
  expect(await hits(owner, true, 'x5999 about')).toHaveLength(1)
})

test('[Q12] for two characters and for more, for the owner of a large workspace and for a guest of one board, indexes alone are used', async () => {
  const [owner, guest] = [await makeUser(), await makeUser()]
  const { boards } = await makeWorkspace(owner, 4)
  for (const board of boards)
    await addCards(
      board,
      Array.from({ length: 1500 }, (_, n) => ({ title: `lime ${n}`, body: `stone ${n * 7919}` })),
    )
  await testDatabase.admin`insert into board_shares (board_id, user_id, role) values (${boards[0]!}, ${guest}, 'viewer')`
  await indexed(boards)
  const plans: string[] = []
  const session = postgres(testDatabase.admin.options.host ? urlOf(testDatabase) : '', {
    max: 1,
    onnotice: ({ message }) => plans.push(String(message)),
    connection: { search_path: 'corkboard' },
  })
  await session.unsafe(`load 'auto_explain'`)
  await session.unsafe(`set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off; set client_min_messages = log; set role corkboard_app`)
  for (const analysed of [false, true]) {
    if (analysed) await testDatabase.admin`analyze`
    for (const account of [owner, guest]) {
      for (const phrase of ['me', 'ime', 'lime 1499', 'li']) {
        plans.length = 0
        const found =
          await session`select * from search(${account}, true, true, ${phrase}, ${phrase.split(' ')}::text[], null, 2000, 100, 0, true)`
        expect(found.length).toBeGreaterThan(0)
        for (const plan of plans) expect(plan).not.toMatch(/Seq Scan/)
        const plan = plans.findLast((text) => text.includes('with scopes as materialized'))!
        expect(plan).toMatch(/Bitmap Index Scan on search_index_keys/)
        const read = [...plan.matchAll(/Bitmap Index Scan on search_index_keys .*?rows=(\d+)/g)].map(
          ([, rows]) => Number(rows),
        )
        expect(Math.max(...read)).toBeLessThanOrEqual(account === guest ? 1501 : 6004)
        if (phrase.length > 5) expect(Math.max(...read)).toBeLessThan(100)
      }
    }
  }
  await session.end()
})

const urlOf = ({ admin }: TestDatabase) => {
  const { host, port, user: name, pass, database: db } = admin.options
  return `postgres://${name}:${String(pass)}@${host[0]}:${port[0]}/${db}`
}

test('[Q16] what many boards have pending is indexed together: each has its share, none is left', async () => {
  const owner = await makeUser()
  const { boards } = await makeWorkspace(owner, 130)
  const cards = (board: string, count: number) =>
    addCards(
      board,
      Array.from({ length: count }, (_, n) => ({ title: `Öl ${n}`, body: '' })),
    )
  for (const [n, board] of boards.entries()) await cards(board, n % 13)
  await cards(boards[7]!, 700)
  await testDatabase.admin`delete from boards where id = ${boards[8]!}`
  await testDatabase.admin`
    update card_index set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
    where board_id = any (${boards}) and title = 'Öl 3'`
  await indexed(boards)
  const [counts] = await testDatabase.admin`
    select
      (select count(*)::integer from search_pending where board_id = any (${boards})) as pending,
      (select count(*)::integer from search_index where board_id = any (${boards}) and card_id = '') as boards,
      (select count(*)::integer from search_index where board_id = any (${boards}) and card_id <> '') as cards,
      (select count(*)::integer from card_index where board_id = any (${boards}) and deleted_at is null) as live`
  expect(counts).toMatchObject({ pending: 0, boards: 129, cards: counts!['live'] })
  expect(counts!['live']).toBeGreaterThan(1200)
  const words = await testDatabase.admin`
    select from search_index s join card_index c using (board_id, card_id)
    where s.board_id = any (${boards}) and s.title = replace(lower(c.title), 'ö', 'o')`
  expect(words).toHaveLength(counts!['live'])
})

test('[Q13] with several processes that keep the index, and writes at the same time, it ends equal to the cards', async () => {
  const owner = await makeUser()
  const { boards } = await makeWorkspace(owner, 3)
  const others = [new SearchIndexer({ database, log }), new SearchIndexer({ database, log }), indexer]
  const writing = { now: true }
  const writes = (async () => {
    for (let turn = 0; turn < 60; turn++) {
      const board = boards[turn % 3]!
      await addCards(
        board,
        Array.from({ length: 20 }, (_, n) => ({ title: `t${turn} ${n}`, body: 'Älter' })),
      )
      await testDatabase.admin`
        update card_index set title = title || ' ${testDatabase.admin.unsafe(`x${turn}`)}', updated_at = clock_timestamp()
        where board_id = ${board} and deleted_at is null and random() < 0.3`
      await testDatabase.admin`
        update card_index set deleted_at = clock_timestamp(), updated_at = clock_timestamp() where board_id = ${board} and random() < 0.1`
    }
    writing.now = false
  })()
  await Promise.all([
    writes,
    ...others.map(async (one) => {
      while (writing.now) await one.catchUp(await everyBoard(), { account: owner, timeoutMs: 50 })
    }),
  ])
  await indexed(boards)
  const difference = await testDatabase.admin`
    select coalesce(c.card_id, s.card_id) as card_id, c.title, s.title as indexed
    from (select * from card_index where board_id = any (${boards}) and deleted_at is null) c
    full join (select * from search_index where board_id = any (${boards}) and card_id <> '') s using (board_id, card_id)
    where lower(c.title) is distinct from s.title or s.body is distinct from 'alter'`
  expect([...difference]).toEqual([])
  const [count] =
    await testDatabase.admin`select count(*)::integer as cards from search_index where board_id = any (${boards})`
  expect(count!['cards']).toBeGreaterThan(100)
})
