/** What an account with many boards costs: only the boards that count are read, and whose turn it is. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Transaction } from '../../sql/database.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'

let service: TestService

beforeAll(async () => {
  service = await startService({ workers: false })
})
afterAll(() => service.stop())

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
