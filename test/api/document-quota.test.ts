/** The storage of documents that an account's boards take: what counts, what is refused when it is full, and what makes room. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { repairBoard, verifyBoard } from '../../collab/log/verify.ts'
import { startPurge } from '../../workers/upkeep/purge.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { openEditor, until } from '../support/editor.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import type { ApiAnswer } from '../support/http.ts'
import { openAgent } from '../support/mcp.ts'
import { startService, type TestUser } from '../support/service.ts'
import { nodesOfFile } from '../support/test-file.ts'
import { makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const limits = { free: 300_000, pro: 3_000_000 }
const config = { documentBytes: limits, freeCardCap: 100_000 }
const days = 86_400_000
let ahead = 0
const clock = { now: () => Date.now() + ahead }
const { here, there } = await nodesOfFile({ workers: false, debounceMs: 20, clock, config })

const large = 'word '.repeat(4000)
const cardOf = (body = large) => ({ kind: 'note', x: 0, y: 0, body })
const cardsPath = (board: Shown) => `/boards/${board.id}/cards`

const free = () => here.user({ tier: 'free' })
const documentsOf = async (user: TestUser): Promise<{ used: number; limit: number; history: number }> =>
  succeeded(await user.api.get('/me')).documents

const madeBy = (answer: ApiAnswer<any>): string => succeeded(answer).cards[0].id

/** Bytes of boards, counted where they are. */
async function takenBy(boardIds: string[]): Promise<number> {
  const [row] = await here.admin<{ bytes: string }[]>`
    select (select coalesce(sum(octet_length(snapshot)), 0) from board_documents where board_id = any (${boardIds}::uuid[]))
      + (select coalesce(sum(octet_length(updates)), 0) from board_updates where board_id = any (${boardIds}::uuid[]))
      + (select coalesce(sum(octet_length(state)), 0) from removed_cards where board_id = any (${boardIds}::uuid[]))
      + (select coalesce(sum(bytes + base_bytes), 0) from board_history where board_id = any (${boardIds}::uuid[])) as bytes`
  return Number(row!.bytes)
}

/** Large cards until one is refused. */
async function fill(user: TestUser, board: Shown): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const answer = await user.api.post(cardsPath(board), cardOf())
    if (answer.status === 402) return ids
    ids.push(madeBy(answer))
  }
}

/** More than full, by what an editor writes. @returns the ids of large cards that were there before */
async function overfill(user: TestUser, board: Shown): Promise<string[]> {
  const ids = (
    await makeCards(
      user,
      board.id,
      Array.from({ length: 6 }, () => ({ body: large })),
    )
  ).map(({ id }) => id)
  const editor = await openEditor(here.url, { boardId: board.id, token: user.token })
  editor.addCard('of-an-editor', { body: 'x'.repeat(limits.free) })
  await editor.saved()
  editor.leave()
  await until(async () => (await user.api.post(cardsPath(board), cardOf('x'))).status === 402, 'it is full')
  return ids
}

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }
function inThirtyDays(): void {
  ahead = 31 * days
  const parts = { database: here.database, clock, log: silent, closeBoard: () => {} }
  const loops = [
    startRetention({ ...parts, auditDays: 400 }, { intervalMs: 20 }),
    startPurge(parts, { intervalMs: 20 }),
  ]
  onTestFinished(async () => {
    ahead = 0
    await Promise.all(loops.map((loop) => loop.stop()))
  })
}

const accepted = (user: TestUser, board: Shown) => async () =>
  (await user.api.post(cardsPath(board), cardOf())).status === 201

test('[DQ1] /me shows what the boards of an account take, to the byte: snapshots, logs and removed cards, also of boards in the trash', async () => {
  const [user, other] = [await free(), await here.user()]
  expect(await documentsOf(user)).toEqual({ used: 0, limit: limits.free, history: 0 })
  expect((await documentsOf(other)).limit).toBe(limits.pro)
  const boards = [await makeBoard(user), await makeBoard(user)]
  await makeCard(other, (await makeBoard(other)).id, { body: large })
  const made = await makeCards(user, boards[0]!.id, [{ body: large }, { body: large }, {}])
  await makeCard(user, boards[1]!.id, { body: 'small' })
  await user.api.patch(`${cardsPath(boards[0]!)}/${made[2]!.id}`, { body: 'more' })
  await user.api.delete(`${cardsPath(boards[0]!)}/${made[0]!.id}`)
  await here.compactor.compact(boards[0]!.id)
  await makeCard(user, boards[0]!.id, { body: 'after the snapshot' })
  const ids = boards.map(({ id }) => id)
  const [kinds] = await here.admin`
    select snapshot_bytes::integer, log_bytes::integer, removed_bytes::integer from document_sizes where board_id = ${ids[0]!}`
  expect(kinds).toEqual({
    snapshot_bytes: expect.toSatisfy((bytes: number) => bytes > 20_000),
    log_bytes: expect.toSatisfy((bytes: number) => bytes > 100),
    removed_bytes: expect.toSatisfy((bytes: number) => bytes > 20_000),
  })
  expect(await documentsOf(user)).toEqual({
    ...{ used: await takenBy(ids), limit: limits.free },
    history: expect.toSatisfy((bytes: number) => bytes > 100),
  })
  await user.api.delete(`/boards/${boards[1]!.id}`)
  expect((await documentsOf(user)).used).toBe(await takenBy(ids))
})

test('[DQ2] cycles of creating and deleting cards come to 402, which says what is full and what makes room', async () => {
  const user = await free()
  const board = await makeBoard(user)
  let refused = null
  for (let cycle = 0; cycle < 20 && !refused; cycle++) {
    const answer = await user.api.post(cardsPath(board), { cards: [cardOf(), cardOf()] })
    if (answer.status === 402) refused = answer
    else
      succeeded(
        await user.api.delete(cardsPath(board), { card_ids: answer.body.cards.map(({ id }: Shown) => id) }),
      )
  }
  expect(refused!.body).toEqual({
    code: 'limit_reached',
    error: expect.stringMatching(/document storage.*full.*purged, after 30 days.*`documents`/),
  })
  expect((await documentsOf(user)).used).toBeLessThanOrEqual(limits.free + 45_000) // deletes keep what they remove, and are never refused
})

test('[DQ3] when it is full, every write that makes cards or groups larger is 402, also by a tool', async () => {
  const user = await free()
  const board = await makeBoard(user)
  const identifier = { scope: 'quota', value: 'one' }
  const [kept, gone] = await makeCards(user, board.id, [{ identifiers: [identifier] }, {}])
  const { group } = succeeded(await user.api.post(`/boards/${board.id}/groups`, { name: 'Group' }))
  const removed = succeeded(await user.api.delete(cardsPath(board), { card_ids: [gone!.id] })).cards[0]
  await overfill(user, board)
  const path = cardsPath(board)
  const asked = [
    await user.api.post(path, cardOf()),
    await user.api.post(path, { kind: 'note', body: large }),
    await user.api.post(path, { cards: [cardOf('x'), cardOf()] }),
    await user.api.post(path, { cards: [cardOf()], layout: 'grid' }),
    await user.api.post(path, { ...cardOf(), identifiers: [identifier], on_conflict: 'identifier' }),
    await user.api.post(path, removed),
    await user.api.patch(`${path}/${kept!.id}`, { body: large }),
    await user.api.patch(`${path}/${kept!.id}`, { title: 'A longer title' }),
    await user.api.patch(path, { cards: [{ id: kept!.id, body: large }] }),
    await user.api.post(`/boards/${board.id}/groups`, { name: 'x'.repeat(200) }),
    await user.api.patch(`/boards/${board.id}/groups/${group.id}`, { name: 'x'.repeat(200) }),
  ]
  expect(asked.map(({ status, body }) => [status, body.code])).toEqual(
    asked.map(() => [402, 'limit_reached']),
  )
  const agent = await openAgent(here.url, user.token)
  expect(
    await agent.fails('create_cards', { board_id: board.id, cards: [{ kind: 'note', body: large }] }),
  ).toContain('document storage')
})

test('[DQ4] when it is full, deletes, smaller cards, places, boards and moves between boards of the owner go through', async () => {
  const user = await free()
  const [board, other] = [await makeBoard(user), await makeBoard(user)]
  const { group } = succeeded(await user.api.post(`/boards/${board.id}/groups`, { name: 'A group' }))
  const ids = await overfill(user, board)
  const path = cardsPath(board)
  const asked = [
    await user.api.patch(`${path}/${ids[0]}`, { body: 'short' }),
    await user.api.patch(path, { cards: [{ id: ids[1], body: null, x: 77_777 }] }),
    await user.api.patch(`${path}/${ids[2]}`, { x: 123_456.5, y: 5, z: 99 }),
    await user.api.post(`/boards/${board.id}/arrange`, { layout: 'grid' }),
    await user.api.post(`${path}/move`, { card_ids: [ids[3]], to_board_id: other.id }),
    await user.api.delete(path, { card_ids: [ids[4]] }),
    await user.api.patch(`/boards/${board.id}/groups/${group.id}`, { name: 'G' }),
    await user.api.delete(`/boards/${board.id}/groups/${group.id}`),
    await user.api.patch(`/boards/${board.id}`, {
      name: 'A much longer name than before',
      props: { a: large.slice(0, 9000) },
    }),
    await user.api.post('/boards', { boards: [{ name: 'One' }, { name: 'Two' }] }),
    await user.api.delete(`/boards/${other.id}`),
    await user.api.post(`/boards/${other.id}/restore`),
  ]
  expect(asked.map(({ status, body }) => (status < 300 ? 'ok' : [status, body]))).toEqual(
    asked.map(() => 'ok'),
  )
})

test('[DQ5] shorter cards make room within seconds, deleted ones after 30 days', async () => {
  const user = await free()
  const board = await makeBoard(user)
  const ids = await fill(user, board)
  succeeded(
    await user.api.patch(cardsPath(board), { cards: ids.slice(0, 5).map((id) => ({ id, body: null })) }),
  )
  await until(accepted(user, board), 'there is room for a card again', 20_000)
  await fill(user, board)
  const before = (await documentsOf(user)).used
  succeeded(await user.api.delete(cardsPath(board), { card_ids: ids.slice(5) }))
  await here.compactor.compact(board.id)
  expect(
    (await user.api.post(cardsPath(board), { cards: Array.from({ length: 6 }, () => cardOf()) })).status,
  ).toBe(402)
  inThirtyDays()
  await until(async () => (await documentsOf(user)).used < before / 2, 'what was removed is forgotten')
  await until(accepted(user, board), 'there is room again')
})

test('[DQ6] a board in the trash counts until it is purged', async () => {
  const user = await free()
  const [board, other] = [await makeBoard(user), await makeBoard(user)]
  await fill(user, board)
  succeeded(await user.api.delete(`/boards/${board.id}`))
  expect((await user.api.post(cardsPath(other), cardOf())).status).toBe(402)
  inThirtyDays()
  await until(accepted(user, other), 'there is room again')
  expect((await documentsOf(user)).used).toBe(await takenBy([other.id]))
})

test('[DQ7] the charge goes to the owner of the workspace: with a workspace that changes hands, and with a card that moves', async () => {
  const [giver, taker, mover] = [await free(), await free(), await free()]
  const board = await makeBoard(giver)
  const ids = await fill(giver, board)
  await here.member(giver.workspaceId, mover, 'editor')
  const target = await makeBoard(mover)
  // By a card that moves.
  const move = (card_ids: string[], from: Shown, to: Shown) =>
    mover.api.post(`${cardsPath(from)}/move`, { card_ids, to_board_id: to.id })
  await fill(mover, target)
  const own = succeeded(await mover.api.get(`${cardsPath(target)}?limit=2`)).cards[0].id
  expect((await move([ids[0]!], board, target)).body).toMatchObject({ code: 'limit_reached' })
  expect((await move([own], target, board)).body).toMatchObject({ code: 'limit_reached' })
  // By a workspace.
  await here.admin`update workspaces set owner_id = ${taker.userId}, personal = false where id = ${giver.workspaceId}`
  expect([(await documentsOf(giver)).used, (await documentsOf(taker)).used]).toEqual([
    0,
    await takenBy([board.id]),
  ])
  const fresh = await makeBoard(giver)
  await until(accepted(giver, fresh), 'the former owner has room')
})

test('[DQ8] concurrent creates never pass the bound on one node, and on two by no more than what was on its way', async () => {
  const user = await free()
  const boards = [await makeBoard(user), await makeBoard(user)]
  await makeCard(user, boards[0]!.id, { body: large })
  const statuses = async (clients: TestUser['api'][]) =>
    (
      await Promise.all(
        Array.from({ length: 32 }, (_, n) =>
          clients[n % clients.length]!.post(cardsPath(boards[n % 2]!), cardOf()),
        ),
      )
    ).map(({ status }) => status)
  const first = await statuses([user.api])
  expect(new Set(first)).toEqual(new Set([201, 402]))
  const { used } = await documentsOf(user)
  expect(used).toBeLessThanOrEqual(limits.free)
  expect(used).toBeGreaterThan(limits.free - 25_000)
  const elsewhere = await here.user({ tier: 'free' })
  boards.splice(0, 2, await makeBoard(elsewhere), await makeBoard(elsewhere))
  const onThere = await there.token(elsewhere, {})
  await statuses([elsewhere.api, onThere.api])
  const on2 = (await documentsOf(elsewhere)).used
  expect(on2).toBeLessThanOrEqual(2 * limits.free)
  expect(new Set(await statuses([elsewhere.api, onThere.api]))).toEqual(new Set([402]))
})

test('[DQ8] two nodes that write one after the other pass the bound by no more than one write', async () => {
  const user = await free()
  const onThere = await there.token(user, {})
  const boards = [await makeBoard(user), await makeBoard(user)]
  const clients = [user.api, onThere.api]
  for (let n = 0; n < 12; n++) await makeCard(user, boards[n % 2]!.id, { body: large })
  const post = (n: number) => clients[n]!.post(cardsPath(boards[n]!), cardOf())
  const before = (await documentsOf(user)).used
  expect(limits.free - before).toBeLessThan(3 * 20_500)
  let refused = 0
  for (let n = 0; refused < 2 && n < 10; n++) {
    await delay(300) // longer than a figure serves for all that it shows
    if ((await post(n % 2)).status === 402) refused += 1
    else refused = 0
  }
  expect(refused).toBe(2)
  const { used } = await documentsOf(user)
  expect(used).toBeGreaterThan(before)
  expect(used).toBeLessThan(limits.free + 20_500)
})

test('[DQ9] a write asks for no figure while the one at hand serves', async () => {
  const database = gatedDatabase(here.databaseUrl)
  let asked = 0
  const counting = {
    ...database,
    callAsSystem: (...[call, pool]: Parameters<typeof database.callAsSystem>) => {
      if (pool !== 'follow') asked += 1 // each write asks on the other pool which nodes have the board open
      return database.callAsSystem(call, pool)
    },
    asSystem: (...[work, pool]: Parameters<typeof database.asSystem>) => {
      if (pool === 'background') asked += 1
      return database.asSystem(work, pool)
    },
  } as typeof database
  const service = await startService({
    workers: false,
    testDatabase: here.testDatabase,
    database: counting,
    config: { documentBytes: { free: 10 ** 9, pro: 10 ** 9 } },
  })
  onTestFinished(async () => {
    await service.stop()
    await database.close()
  })
  const user = await service.user()
  const board = await makeBoard(user)
  await makeCard(user, board.id)
  const before = asked
  for (let n = 0; n < 50; n++) await makeCard(user, board.id)
  expect(asked - before).toBeLessThan(5) // other parts of the service call now and then
})

test('[DQ10] the refusal comes after those about access, and tells nobody but the owner how much is used', async () => {
  const [owner, stranger, viewer, member] = [await free(), await free(), await free(), await free()]
  const board = await makeBoard(owner)
  await here.member(owner.workspaceId, viewer, 'viewer')
  await here.member(owner.workspaceId, member, 'editor')
  await overfill(owner, board)
  const { used } = await documentsOf(owner)
  const answer = (user: TestUser) => user.api.post(cardsPath(board), cardOf())
  expect((await answer(stranger)).status).toBe(404)
  expect((await answer(viewer)).status).toBe(403)
  const refused = await answer(member)
  expect(refused.status).toBe(402)
  for (const figure of [used, limits.free, used / 1000])
    expect(refused.text).not.toContain(String(Math.trunc(figure)))
  expect((await documentsOf(member)).used).toBe(0)
  // The other account's own boards have room all the same.
  expect((await member.api.post(cardsPath(await makeBoard(member)), cardOf())).status).toBe(201)
})

test('[DQ11] verify finds counters that are wrong, and a repair mends them', async () => {
  const user = await free()
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id, { body: large })
  succeeded(await user.api.delete(`${cardsPath(board)}/${card.id}`))
  await makeCard(user, board.id)
  const right = (await documentsOf(user)).used
  expect(await verifyBoard(here.database, board.id)).toEqual([])
  await here.admin`update board_documents set log_bytes = 5, removed_bytes = 7, log_rows = 1 where board_id = ${board.id}`
  const found = await verifyBoard(here.database, board.id)
  const faults = found.map(({ what, id, fault }) => `${what} ${id} ${fault}`)
  expect(new Set(faults)).toEqual(
    new Set(['count log_bytes stale', 'count log_rows stale', 'count removed_bytes stale']),
  )
  await repairBoard(here.database, board.id)
  expect(await verifyBoard(here.database, board.id)).toEqual([])
  expect((await documentsOf(user)).used).toBe(right)
})

test('[DQ12] the counters stay exact under writes on two nodes while the board is compacted', async () => {
  const user = await here.user()
  const onThere = await there.token(user, {})
  const board = await makeBoard(user)
  const clients = [user.api, onThere.api]
  await Promise.all(
    Array.from({ length: 6 }, async (_, n) => {
      for (let turn = 0; turn < 6; turn++) {
        const id = madeBy(await clients[n % 2]!.post(cardsPath(board), cardOf('some words')))
        if (n < 2 && turn % 3 === 0) await [here, there][n]!.compactor.compact(board.id)
        if (turn % 2) succeeded(await clients[(n + 1) % 2]!.delete(`${cardsPath(board)}/${id}`))
      }
    }),
  )
  expect(await verifyBoard(here.database, board.id)).toEqual([])
  expect((await documentsOf(user)).used).toBe(await takenBy([board.id]))
})
