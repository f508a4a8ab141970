/** What an account with many boards costs: only the boards that count are read, and whose turn it is. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Transaction } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until, type Editor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const emptyBoards = 2000

/** Makes boards without cards, half of them in the trash. */
async function makeEmptyBoards({ workspaceId }: TestUser): Promise<void> {
  await service.admin`
    insert into boards (workspace_id, name, deleted_at)
    select ${workspaceId}, 'Board ' || n, case n % 2 when 0 then now() end from generate_series(1, ${emptyBoards}) n`
  await service.admin`vacuum analyze boards, board_documents`
}

/** The rows of boards and documents that `work` reads. */
async function rowsRead(work: (tx: Transaction) => Promise<unknown>): Promise<number> {
  const count = async (tx: Transaction) => {
    const [read] = await tx<{ rows: number }[]>`
      select sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid))::integer as rows
      from pg_class c
      where c.relname in ('boards', 'board_documents', 'boards_pkey', 'board_documents_pkey')
        or c.oid in (select indexrelid from pg_index where indrelid in ('boards'::regclass, 'board_documents'::regclass))`
    return read!.rows
  }
  return service.database.asSystem(async (tx) => {
    const before = await count(tx)
    await work(tx)
    return (await count(tx)) - before
  })
}

const cardsOf = async ({ userId }: TestUser) => {
  const [row] = await service.admin<{ cards: number }[]>`select owner_card_count(${userId}) as cards`
  return row!.cards
}

test('[S17] the count of an owner’s cards reads only live boards with cards, and is right whatever happens to boards', async () => {
  const owner = await service.user({ tier: 'free' })
  await makeEmptyBoards(owner)
  const boards = [await makeBoard(owner), await makeBoard(owner), await makeBoard(owner)] as const
  await makeCards(owner, boards[0].id, [{}, {}])
  const made = await makeCards(owner, boards[1].id, [{}])
  await makeCards(owner, boards[2].id, [{}])
  expect(await cardsOf(owner)).toBe(4)
  expect(await rowsRead((tx) => tx`select owner_card_count(${owner.userId})`)).toBeLessThan(30)

  succeeded(await owner.api.delete(`/boards/${boards[0].id}`))
  expect(await cardsOf(owner)).toBe(2)
  succeeded(await owner.api.delete(`/boards/${boards[1].id}/cards`, { card_ids: made.map(({ id }) => id) }))
  expect(await cardsOf(owner)).toBe(1)
  succeeded(await owner.api.post(`/boards/${boards[0].id}/restore`))
  expect(await cardsOf(owner)).toBe(3)
  await makeCards(owner, boards[1].id, [{}, {}])
  expect(await cardsOf(owner)).toBe(5)

  const heir = await service.user({ tier: 'free' })
  await service.admin`update workspaces set owner_id = ${heir.userId}, personal = false where id = ${owner.workspaceId}`
  expect([await cardsOf(owner), await cardsOf(heir)]).toEqual([0, 5])
  const wrong = await service.admin`
    select from board_documents d
    join boards b on b.id = d.board_id
    where d.is_counted <> (b.deleted_at is null and d.card_count > 0)`
  expect(wrong).toHaveLength(0)
})

/** A service whose sums of documents take as long as with a million boards. `sums` tells how many began and ended. */
async function startSlow() {
  const testDatabase = await cloneDatabase()
  const { admin } = testDatabase
  await admin`create sequence begun minvalue 0`
  await admin`create sequence ended minvalue 0`
  await admin`grant usage on begun, ended to corkboard_system`
  await admin`select nextval('begun'), nextval('ended')`
  // The sum shows the moment at which it began, as a single long statement does.
  const takes = (seconds: number) =>
    admin.unsafe(`
      create or replace function owner_documents(owner uuid) returns bigint
      language plpgsql volatile security definer set search_path = corkboard, pg_temp as $$
      declare
        used bigint := (
          select sum(s.bytes) from workspaces w join document_sizes s on s.workspace_id = w.id where w.owner_id = owner);
      begin
        perform nextval('begun');
        perform pg_sleep(${seconds});
        perform nextval('ended');
        return used;
      end $$`)
  const service = await startService({
    testDatabase,
    workers: false,
    config: { documentBytes: { free: 100_000, pro: 100_000 } },
  })
  onTestFinished(async () => {
    await service.stop()
    await testDatabase.drop()
  })
  const sums = async () => {
    const [row] = await admin<{ begun: number; ended: number }[]>`
      select (select last_value from begun)::integer as begun, (select last_value from ended)::integer as ended`
    return row!
  }
  return { service, takes, sums }
}

test('[S18] all boards of an owner share one figure of what is left, and its sum takes a tenth of the time', async () => {
  const { service, takes, sums } = await startSlow()
  await takes(0.2)
  const owner = await service.user({ tier: 'free' })
  const begun = performance.now()
  const editors: Editor[] = []
  for (let n = 0; n < 20; n++) {
    const { id } = await makeBoard(owner)
    editors.push(await openEditor(service.url, { boardId: id, token: owner.token }))
  }
  for (let round = 0; round < 20; round++) {
    for (const [at, editor] of editors.entries())
      editor.addCard(`card-${at}-${round}`, { body: 'x'.repeat(1000) })
    await Promise.all(editors.map((editor) => editor.saved()))
    await delay(100)
  }
  const most = 2 + (performance.now() - begun) / 2000
  const { begun: made } = await sums()
  expect(made).toBeGreaterThan(1)
  expect(made).toBeLessThanOrEqual(most)
})

test('[S18] sums of owners with many boards take no connection for which requests wait', async () => {
  const { service, takes, sums } = await startSlow()
  await takes(2)
  const owners = [await service.user({ tier: 'free' }), await service.user({ tier: 'free' })]
  const boards = await Promise.all(owners.map((owner) => makeBoard(owner)))
  const writes = owners.map((owner, n) => makeCards(owner, boards[n]!.id, [{}]))
  await until(async () => (await sums()).begun === 2, 'both sums have begun')
  await service.database.callAsSystem((sql) => sql`select 1`)
  expect(await sums()).toEqual({ begun: 2, ended: 0 })
  await Promise.all(writes)
})

test('[S20] what is written while a sum runs counts in the figure that it gives', async () => {
  const { service, takes, sums } = await startSlow()
  await takes(2)
  const owner = await service.user({ tier: 'free' })
  const { id } = await makeBoard(owner)
  const editor = await openEditor(service.url, { boardId: id, token: owner.token })
  expect(await sums()).toEqual({ begun: 1, ended: 0 })
  editor.addCard('card', { body: 'x'.repeat(90_000) })
  await editor.saved()
  expect(await sums()).toEqual({ begun: 1, ended: 0 })
  await until(async () => (await sums()).ended === 1, 'the sum has ended')
  await delay(100)
  const { status } = await owner.api.post(`/boards/${id}/cards`, { kind: 'note', body: 'y'.repeat(20_000) })
  expect(status).toBe(402)
})

test('[S19][X117] lists and trees of boards of one account hold two connections, whatever their number and offset, and leave the others to other requests', async () => {
  const { admin } = service
  const owner = await service.user()
  // Lists wait for this lock, within PostgreSQL.
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  onTestFinished(() => unlock.resolve())
  const holder = admin.begin(async (tx) => {
    await tx`lock table board_shares in access exclusive mode`
    locked.resolve()
    await unlock.promise
  })
  await locked.promise
  const read = (n: number) => {
    if (n % 3 === 0) return '/boards?since=2026-01-01T00:00:00Z'
    return n % 3 === 1
      ? `/boards?parent=root&offset=${n * 5000}`
      : `/boards/tree?workspace=${owner.workspaceId}`
  }
  const lists = Array.from({ length: 30 }, (_, n) => owner.api.get(read(n)))
  const waiting = async () => {
    const [row] = await admin<{ count: number }[]>`
      select count(*)::integer as count from pg_locks where relation = 'board_shares'::regclass and not granted`
    return row!.count
  }
  await until(async () => (await waiting()) >= 2, 'lists are being read')
  for (let n = 0; n < 5; n++) await service.database.asSystem((tx) => tx`select 1`)
  expect(await waiting()).toBe(2)
  unlock.resolve()
  await holder
  for (const { status } of await Promise.all(lists)) expect(status).toBe(200)
})
