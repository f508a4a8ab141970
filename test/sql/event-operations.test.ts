/** Events of one operation: how many there are, and which ids they have. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import {
  brief,
  gated,
  insertCard,
  makeBoard,
  makeCards,
  service,
  sorted,
  taken,
  user,
} from './event-scene.ts'

test('[V7] each request is one event for each type and board, also when many share a commit', async () => {
  const boards = [await makeBoard('one'), await makeBoard('two')]
  const [kept] = await makeCards(boards[0]!, 1)
  gated.hold()
  const commits = gated.calls.length
  const requests = Array.from({ length: 20 }, (_, n) =>
    user.api.post(`/boards/${boards[n % 2]}/cards`, {
      cards: Array.from({ length: (n % 3) + 1 }, () => ({ kind: 'note', x: n, y: n })),
    }),
  )
  requests.push(user.api.patch(`/boards/${boards[0]}/cards/${kept}`, { title: 'changed' }))
  const held = () => gated.calls.slice(commits).flatMap(({ items }) => JSON.parse(items) as unknown[])
  const here = () => held().length + service.live.queue.counts().writes
  await until(() => here() === requests.length, 'all of them wait')
  gated.release()
  const answers = await Promise.all(requests)
  expect(gated.calls.length - commits).toBeLessThan(10)
  const events = await taken()
  expect(brief(events).filter((text) => text === 'card.updated api')).toHaveLength(1)
  const created = events.filter(({ type }) => type === 'card.created')
  expect(created).toHaveLength(20)
  const expected = answers.slice(0, 20).map(({ body }) => body.cards.map(({ id }: { id: string }) => id))
  expect(sorted(created.map(({ card_ids }) => card_ids))).toEqual(sorted(expected))

  await service.admin`update card_index set title = 'at once' where board_id = any (${boards}::uuid[])`
  const bySql = await taken()
  expect(sorted(bySql.map(({ type, board_id, op }) => [type, board_id, op]))).toEqual(
    sorted(boards.map((id) => ['card.updated', id, null])),
  )
})

test('[V8] cards that come back and cards that are new are one card.created of an operation, with all the ids', async () => {
  const id = await makeBoard()
  const cards = await makeCards(id, 2)
  await user.api.delete(`/boards/${id}/cards/${cards[0]}`)
  await taken()
  const op = randomUUID()
  const row = (n: number, card: string) => ({
    n,
    id: card,
    kind: 'note',
    title: 't',
    x: 0,
    y: 0,
    w: 1,
    h: 1,
    z: n,
    rotation: 0,
    identifiers: [],
    hash: `new ${card}`,
  })
  const commitId = randomUUID()
  const [{ seq } = { seq: 0 }] = await service.admin<
    { seq: number }[]
  >`select seq from board_documents where board_id = ${id}`
  const call = {
    commitId,
    freeCardCap: null,
    items: JSON.stringify([
      {
        n: 0,
        board: id,
        kind: 'flush',
        op,
        cause: 'editor',
        seen: seq,
        blob_at: 0,
        blob_bytes: 0,
        actors: [],
      },
    ]),
    blob: new Uint8Array(),
    rows: JSON.stringify([row(0, cards[0]!), row(0, cards[1]!), row(0, 'fresh')]),
    groups: null,
    removed: null,
  }
  await service.database.commit(call)
  const events = await taken()
  expect(sorted(events.map(({ type, op, card_ids }) => [type, op, card_ids!.toSorted()]))).toEqual([
    JSON.stringify(['card.created', op, [cards[0]!, 'fresh'].toSorted()]),
    JSON.stringify(['card.updated', op, [cards[1]]]),
  ])
  await service.database.commit(call, { again: true }) // asked again, after its answer was lost
  expect(await taken()).toEqual([])
})

test('[V9] a move is one card.moved for each source, on the target, and nothing else', async () => {
  const [target, one, two] = [await makeBoard('target'), await makeBoard('one'), await makeBoard('two')]
  const op = randomUUID()
  for (const [board, id] of [
    [one, 'a'],
    [one, 'b'],
    [two, 'c'],
  ] as const)
    await insertCard(board, { id })
  await taken()
  await service.admin.begin(async (tx) => {
    await tx`
      insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, moved_from, created_at, updated_at)
      select ${target}, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, 1, ${op}, 'move', board_id, created_at, now()
      from card_index where board_id = any (${[one, two]}::uuid[])`
    await tx`
      update card_index set deleted_at = now(), updated_at = now(), hash = '', op = ${op}, cause = 'move'
      where board_id = any (${[one, two]}::uuid[])`
  })
  const events = await taken()
  expect(
    events.map(({ type, board_id, from_board_id, card_ids, origin }) => ({
      type,
      board_id,
      from_board_id,
      card_ids,
      origin,
    })),
  ).toEqual(
    expect.arrayContaining([
      { type: 'card.moved', board_id: target, from_board_id: one, card_ids: ['a', 'b'], origin: 'api' },
      { type: 'card.moved', board_id: target, from_board_id: two, card_ids: ['c'], origin: 'api' },
    ]),
  )
  expect(events).toHaveLength(2)
  // A later change of such a card is an ordinary one.
  await service.admin`update card_index set title = 'later' where board_id = ${target} and card_id = 'a'`
  await service.admin`delete from card_index where board_id = ${target}`
  expect((await taken()).map(({ type, from_board_id }) => [type, from_board_id])).toEqual([
    ['card.updated', null],
    ['card.deleted', null],
  ])
})

test('[V11] the outbox keeps the ids of all cards, in the order of the request', async () => {
  const id = await makeBoard()
  const { body } = await user.api.post(`/boards/${id}/cards`, {
    cards: Array.from({ length: 1000 }, (_, n) => ({ kind: 'note', x: n, y: n })),
  })
  const [event] = await taken()
  expect(event!.card_ids).toEqual(body.cards.map((card: { id: string }) => card.id))
})

test('[V12] the trigger costs by the cards, whatever the first statement of the connection was', async () => {
  const id = await makeBoard()
  await service.admin.begin(async (tx) => {
    const insert = (from: number, to: number) => tx`
      insert into card_index (board_id, card_id, workspace_id, kind, x, y, w, h, z, rotation, hash, position, op, cause, created_at, updated_at)
      select ${id}, 'n' || n, ${user.workspaceId}, 'note', 0, 0, 1, 1, n, 0, 'h', 0, ${randomUUID()}, 'editor', now(), now()
      from generate_series(${from}::integer, ${to}::integer) n`
    await insert(1, 1)
    await tx`update card_index set title = 'first' where board_id = ${id}`
    await insert(2, 30_000)
    await tx`set local statement_timeout = '8s'`
    await tx`update card_index set title = 'all' where board_id = ${id}`
    await tx`delete from card_index where board_id = ${id}`
  })
  expect((await taken()).at(-1)).toMatchObject({ type: 'card.deleted' })
})
