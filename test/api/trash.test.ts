/** What the trash, and what was removed, comes to after 30 days. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { startPurge } from '../../workers/upkeep/purge.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { lockBoard } from '../support/held-lock.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCard, makeCards, succeeded, type Shown } from './board.ts'

const days = 86_400_000
let service: TestService
let user: TestUser
let now = Date.now()
let asked = 0
const clock = {
  now() {
    asked += 1
    return now
  },
}

beforeAll(async () => {
  service = await startService({ workers: false, clock, debounceMs: 30 })
  user = await service.user()
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} }
const closed: string[] = []
const parts = () => ({
  database: service.database,
  clock,
  log: silent,
  closeBoard: (id: string) => void closed.push(id),
})

function startPurging(): void {
  const loop = startPurge(parts(), { intervalMs: 20 })
  onTestFinished(() => loop.stop())
}

/** As if it had been put into the trash so many days ago, by the clock of the service. */
async function trash(board: Shown, age: number): Promise<void> {
  succeeded(await user.api.delete(`/boards/${board.id}`))
  await service.admin`update boards set deleted_at = ${new Date(now - age * days)} where id = ${board.id}`
}

const isThere = async (id: string) => (await service.admin`select from boards where id = ${id}`).length === 1
const status = async (path: string) => (await user.api.get(path)).status

test('[Y10] a board is restored up to 30 days after its deletion; then it is 404, whether or not it is purged', async () => {
  const [late, over] = [await makeBoard(user), await makeBoard(user)]
  await trash(late, 29.99)
  await trash(over, 30.01)
  expect(await user.api.post(`/boards/${late.id}/restore`)).toMatchObject({
    status: 200,
    body: { restored: true },
  })
  const refused = await user.api.post(`/boards/${over.id}/restore`)
  expect([refused.status, refused.body]).toEqual([404, { code: 'not_found', error: 'No such board.' }])
  startPurging()
  await until(async () => !(await isThere(over.id)), 'it is purged')
  expect((await user.api.post(`/boards/${over.id}/restore`)).status).toBe(404)
  expect(await status(`/boards/${late.id}`)).toBe(200)
})

test('[Y11] thirty days after its deletion a board goes with its cards, document and log, as its clock says', async () => {
  const board = await makeBoard(user)
  const cards = await makeCards(user, board.id, [{}, {}, {}])
  await user.api.delete(`/boards/${board.id}/cards/${cards[0]!.id}`)
  const guest = await service.user()
  await service.share(board.id, guest, 'viewer')
  const started = now
  onTestFinished(() => void (now = started))
  const kept = await makeBoard(user)
  const keptCards = await makeCards(user, kept.id, [{}, {}])
  succeeded(await user.api.delete(`/boards/${board.id}`))
  startPurging()
  now = started + 30 * days - 60_000
  asked = 0
  await until(() => asked > 3, 'several rounds')
  expect(await isThere(board.id)).toBe(true)
  now = started + 30 * days + 60_000
  await until(async () => !(await isThere(board.id)), 'it is purged')
  const tables = [
    'board_documents',
    'board_updates',
    'card_index',
    'group_index',
    'removed_cards',
    'board_shares',
  ]
  for (const table of tables)
    expect([
      table,
      (await service.admin`select from ${service.admin(table)} where board_id = ${board.id}`).length,
    ]).toEqual([table, 0])
  expect(closed).toContain(board.id)
  for (const path of [
    `/boards/${board.id}`,
    `/boards/${board.id}/cards`,
    `/boards/${board.id}/cards?source=index`,
  ])
    expect(await status(path)).toBe(404)
  expect((await listCards(user, kept.id)).map(({ id }) => id).toSorted()).toEqual(
    keptCards.map(({ id }) => id).toSorted(),
  )
})

test('[Y12] the children of a purged board lie at top level, which their feed tells; nothing is told of the board a second time', async () => {
  const parent = await makeBoard(user)
  const [child, trashed] = [
    await makeBoard(user, { parent_board_id: parent.id }),
    await makeBoard(user, { parent_board_id: parent.id }),
  ]
  await makeCards(user, parent.id, [{}, {}])
  await user.api.delete(`/boards/${trashed.id}`)
  await trash(parent, 31)
  const eventsOf = (id: string) =>
    service.admin`select type, data from events where board_id = ${id} order by id`
  const before = await eventsOf(parent.id)
  expect(before.map(({ type }) => type)).toEqual(['board.created', 'card.created', 'board.deleted'])
  const read = async () => (await user.api.get<any>(`/boards/${child.id}`)).body.board
  const { updated_at: since } = await read()
  startPurging()
  await until(async () => !(await isThere(parent.id)), 'it is purged')
  const after = await read()
  expect(after).toMatchObject({ parent_board_id: null, deleted: false })
  expect(after.updated_at > since).toBe(true)
  await until(async () => {
    const { boards } = succeeded(await user.api.get<any>(`/boards?since=${since}&deleted=1`))
    return (
      boards.filter(
        ({ id, parent_board_id }: Shown & { parent_board_id: null }) =>
          [child.id, trashed.id].includes(id) && parent_board_id === null,
      ).length === 2
    )
  }, 'the feed tells of both children')
  expect([...(await eventsOf(parent.id))]).toEqual([...before])
  expect((await eventsOf(child.id)).at(-1)).toMatchObject({
    type: 'board.updated',
    data: { changed: ['parent_board_id'], parent_board_id: null },
  })
  expect(await user.api.post(`/boards/${trashed.id}/restore`)).toMatchObject({
    status: 200,
    body: { board: { parent_board_id: null } },
  })
})

test('[Y13] a purge goes in small transactions, waits for nobody, is resumed, and leaves a board that came back', async () => {
  const [held, large, back] = [await makeBoard(user), await makeBoard(user), await makeBoard(user)]
  for (let n = 0; n < 3; n++)
    await makeCards(
      user,
      large.id,
      Array.from({ length: 1000 }, () => ({})),
    )
  await makeCard(user, back.id)
  for (const board of [held, large, back]) await trash(board, 31)
  // Half gone already, by a process that did not get further.
  await service.admin`update board_documents set purging = true where board_id = ${large.id}`
  await service.admin`delete from card_index where board_id = ${large.id} and card_id < 'a'`
  expect((await user.api.post(`/boards/${large.id}/restore`)).status).toBe(404)
  await service.admin`update boards set deleted_at = null where id = ${back.id}`
  await service.admin`create table public.sizes (xid xid8, count integer)`
  await service.admin`grant insert on public.sizes to public`
  await service.admin.unsafe(`
    create function public.measure() returns trigger language plpgsql as $$
    begin insert into public.sizes select pg_current_xact_id(), count(*) from old_rows; return null; end $$;
    create trigger measure after delete on corkboard.card_index referencing old table as old_rows for each statement execute function public.measure();`)
  onTestFinished(async () => void (await service.admin`drop trigger measure on card_index`))
  const release = await lockBoard(service.admin, held.id)
  startPurging()
  await until(async () => !(await isThere(large.id)), 'the large board is purged')
  const sizes = await service.admin`select sum(count)::integer as rows from public.sizes group by xid`
  expect(Math.max(...sizes.map(({ rows }) => rows))).toBeLessThanOrEqual(1000)
  expect(sizes.length).toBeGreaterThan(2)
  expect(await isThere(held.id)).toBe(true)
  await release()
  await until(async () => !(await isThere(held.id)), 'the other one, once it is free')
  expect(await isThere(back.id)).toBe(true)
  expect(await listCards(user, back.id)).toHaveLength(1)
})

test('[Y14] of a removed card tombstone and restore token go after 30 days, and no editor brings it back', async () => {
  const board = await makeBoard(user)
  const [old, fresh, kept] = await makeCards(user, board.id, [
    { title: 'old' },
    { title: 'fresh' },
    { title: 'kept' },
  ])
  const away = await openEditor(service.url, { boardId: board.id, token: user.token })
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(away.document))
  away.leave()
  for (const { id } of [old!, fresh!]) succeeded(await user.api.delete(`/boards/${board.id}/cards/${id}`))
  const long = new Date(now - 31 * days)
  await service.admin`update card_index set deleted_at = ${long}, updated_at = ${long} where board_id = ${board.id} and card_id = ${old!.id}`
  await service.admin`update removed_cards set removed_at = ${long} where card_id = ${old!.id}`
  const events = async () => (await service.admin`select count(*)::integer as count from events`)[0]!['count']
  const before = await events()
  const loop = startRetention(
    { auditDays: 400, database: service.database, clock, log: silent },
    { intervalMs: 20 },
  )
  onTestFinished(() => loop.stop())
  const indexed = async () =>
    (await service.admin`select card_id from card_index where board_id = ${board.id}`)
      .map((row) => String(row['card_id']))
      .toSorted()
  await until(async () => (await indexed()).length === 2, 'the old tombstone is gone')
  expect(await indexed()).toEqual([fresh!.id, kept!.id].toSorted())
  expect(
    await service.admin`select from removed_cards where card_id in (${old!.id}, ${fresh!.id})`,
  ).toHaveLength(1)
  expect(await events()).toBe(before)

  // An editor that was away meanwhile, and changed what is no more.
  const cards = copy.getMap<Y.Map<unknown>>('cards')
  cards.get(old!.id)!.set('title', 'still here?')
  cards.get(kept!.id)!.set('title', 'changed offline')
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token, document: copy })
  await editor.saved()
  await until(
    async () => (await listCards(user, board.id))[0]!['title'] === 'changed offline',
    'the offline edit is there',
  )
  await until(
    async () =>
      (await service.admin`select from card_index where card_id = ${kept!.id} and title = 'changed offline'`)
        .length === 1,
    'it is indexed',
  )
  expect((await listCards(user, board.id)).map(({ id }) => id)).toEqual([kept!.id])
  expect(await indexed()).toEqual([fresh!.id, kept!.id].toSorted())
  editor.leave()
})

test('[Y15] notifications are kept for 90 days', async () => {
  const ages = [1, 89, 91, 400]
  await service.admin`alter table notifications disable trigger notifications_stamp`
  for (const age of ages)
    await service.admin`
      insert into notifications (user_id, type, data, created_at) values (${user.userId}, 'test', jsonb_build_object('age', ${age}::integer), ${new Date(now - age * days)})`
  await service.admin`alter table notifications enable trigger notifications_stamp`
  const loop = startRetention(
    { auditDays: 400, database: service.database, clock, log: silent },
    { intervalMs: 20 },
  )
  onTestFinished(() => loop.stop())
  const left = async () =>
    succeeded(await user.api.get<any>('/notifications')).notifications.map(
      ({ data }: Shown) => (data as any).age,
    )
  await until(async () => (await left()).length === 2, 'the old ones are gone')
  expect(await left()).toEqual([1, 89])
})
