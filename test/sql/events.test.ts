/** What the triggers write into the outbox, in the transaction of the change. Nothing takes it out here. */
import { expect, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { brief, insertCard, makeBoard, makeCards, service, sorted, taken, user } from './event-scene.ts'

test('[V1] what a request does to boards and cards is an event of origin api with its data', async () => {
  const parent = await makeBoard('Parent')
  const created = (await user.api.post('/boards', { name: 'A', parent_board_id: parent, view: 'list' })).body
    .board
  const [event, ...none] = await taken()
  expect(none).toEqual([])
  expect(event).toMatchObject({
    type: 'board.created',
    board_id: created.id,
    workspace_id: user.workspaceId,
    resource_type: 'board',
    resource_id: created.id,
    origin: 'api',
    card_ids: null,
  })
  expect(event!.data).toEqual({ name: 'A', parent_board_id: parent, view: 'list', changed: [] })
  expect(event!.occurred_at.toISOString()).toBe(created.created_at)

  const patched = (
    await user.api.patch(`/boards/${created.id}`, { name: 'B', parent_board_id: null, view: 'canvas' })
  ).body.board
  const [updated] = await taken()
  expect(updated).toMatchObject({ type: 'board.updated', origin: 'api', resource_id: created.id })
  expect(updated!.data).toEqual({
    name: 'B',
    parent_board_id: null,
    view: 'canvas',
    changed: ['name', 'view', 'parent_board_id'],
  })
  expect(updated!.occurred_at.toISOString()).toBe(patched.updated_at)
  await user.api.delete(`/boards/${created.id}`)
  await user.api.delete(`/boards/${created.id}`) // a no-op
  await user.api.post(`/boards/${created.id}/restore`)
  await user.api.post(`/boards/${created.id}/restore`) // a no-op
  const lifecycle = await taken()
  expect(brief(lifecycle)).toEqual(['board.deleted api', 'board.restored api'])
  expect(lifecycle[0]!.data).toEqual({
    name: 'B',
    parent_board_id: null,
    view: 'canvas',
    changed: ['deleted'],
  })

  const card =
    (await user.api.post(`/boards/${created.id}/cards`, { kind: 'note', title: 'x' })).body.card ?? null
  const [made] = await taken()
  expect(made).toMatchObject({
    type: 'card.created',
    origin: 'api',
    board_id: created.id,
    resource_type: 'board',
    resource_id: created.id,
    data: null,
  })
  const [cardId] = made!.card_ids!
  if (card) expect(card.id).toBe(cardId)
  await user.api.patch(`/boards/${created.id}/cards/${cardId}`, { x: 5000 })
  await user.api.patch(`/boards/${created.id}/cards/${cardId}`, { title: 'y', props: { a: 1 } })
  await user.api.patch(`/boards/${created.id}/cards/${cardId}`, { props: { a: 2 } })
  const removed = (await user.api.delete(`/boards/${created.id}/cards/${cardId}`)).body.card
  const cards = await taken()
  expect(brief(cards)).toEqual([
    'card.updated api',
    'card.updated api',
    'card.updated api',
    'card.deleted api',
  ])
  expect(cards.map(({ card_ids }) => card_ids)).toEqual([[cardId], [cardId], [cardId], [cardId]])
  const restored = (await user.api.post(`/boards/${created.id}/cards`, removed)).body
  expect(await taken()).toMatchObject([
    { type: 'card.created', card_ids: [restored.card?.id ?? restored.cards[0].id] },
  ])
})

test('[V2] what an editor does is an event of origin app, one of each type for each flush', async () => {
  const boardId = await makeBoard()
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.document.transact(() => {
    editor.addCard('one', { title: 'one', z: 1 })
    editor.addCard('two', { title: 'two', z: 2 })
  })
  await until(async () => (await service.admin`select from events`).length > 0, 'the created cards')
  const created = await taken()
  expect(brief(created)).toEqual(['card.created app'])
  expect(created[0]!.card_ids).toEqual(['one', 'two'])
  editor.document.transact(() => {
    editor.cards.get('one')!.set('x', 500)
    editor.cards.delete('two')
    editor.addCard('three')
  })
  await until(async () => (await service.admin`select from events`).length >= 3, 'the mix')
  const mix = await taken()
  expect(brief(mix).toSorted()).toEqual(['card.created app', 'card.deleted app', 'card.updated app'])
  expect(Object.fromEntries(mix.map(({ type, card_ids }) => [type, card_ids]))).toEqual({
    'card.created': ['three'],
    'card.updated': ['one'],
    'card.deleted': ['two'],
  })
  expect(new Set(mix.map(({ op }) => op)).size).toBe(1)
  // What only the editor knows is contents too; what is set to what it was is no change.
  editor.cards.get('one')!.set('grid', { columns: 3 })
  await until(async () => (await service.admin`select from events`).length > 0, 'the grid')
  expect(brief(await taken())).toEqual(['card.updated app'])
  editor.cards.get('one')!.set('x', 500)
  await editor.saved()
  await service.live.queue.flush(boardId)
  expect(await taken()).toEqual([])
})

test('[V3] plain SQL on the tables is an event of origin app, of each type', async () => {
  const { admin } = service
  const [board] = await admin<{ id: string }[]>`
    insert into boards (workspace_id, name) values (${user.workspaceId}, 'by SQL') returning id`
  const id = board!.id
  await admin`update boards set name = 'renamed' where id = ${id}`
  await admin`update boards set deleted_at = now() where id = ${id}`
  await admin`update boards set deleted_at = null where id = ${id}`
  expect((await taken()).map(({ type, origin, data }) => [type, origin, data!['changed']])).toEqual([
    ['board.created', 'app', []],
    ['board.updated', 'app', ['name']],
    ['board.deleted', 'app', ['deleted']],
    ['board.restored', 'app', ['deleted']],
  ])
  await insertCard(id, { id: 'a' })
  await insertCard(id, { id: 'b', cause: 'move', movedFrom: id })
  await admin`update card_index set title = 'new', updated_at = now() where board_id = ${id}`
  await admin`update card_index set deleted_at = now() where board_id = ${id} and card_id = 'a'`
  await admin`update card_index set deleted_at = null where board_id = ${id} and card_id = 'a'`
  await admin`delete from card_index where board_id = ${id}`
  const before = Date.now()
  const cards = await taken()
  expect(cards.map(({ type, origin, card_ids }) => [type, origin, card_ids])).toEqual([
    ['card.created', 'app', ['a']],
    ['card.moved', 'api', ['b']],
    ['card.updated', 'app', ['a', 'b']],
    ['card.deleted', 'app', ['a']],
    ['card.created', 'app', ['a']],
    ['card.deleted', 'app', ['a', 'b']],
  ])
  for (const { occurred_at } of cards) {
    expect(Math.abs(before - occurred_at.getTime())).toBeLessThan(5000)
    expect(occurred_at.getTime() % 1).toBe(0)
  }
  await admin`
    insert into images (image_key, workspace_id, board_id, content_type, bytes, width, height)
    values ('k1', ${user.workspaceId}, ${id}, 'image/png', 123, 4, 5), ('k2', ${user.workspaceId}, null, 'image/gif', null, null, null)`
  expect(await taken()).toMatchObject([
    {
      type: 'image.created',
      origin: 'app',
      board_id: id,
      resource_type: 'image',
      resource_id: 'k1',
      data: { bytes: 123, width: 4, height: 5, content_type: 'image/png' },
    },
    {
      type: 'image.created',
      board_id: null,
      resource_id: 'k2',
      data: { bytes: null, width: null, height: null },
    },
  ])
  await admin`delete from boards where id = ${id}`
  expect(brief(await taken())).toEqual(['board.deleted app'])
})

test('[V4] board.updated fires for name, view and parent alone, and says which changed', async () => {
  const id = await makeBoard('same')
  const parent = await makeBoard('parent')
  const patch = async (body: object) => {
    await user.api.patch(`/boards/${id}`, body)
    return (await taken()).map(({ type, data }) => [type, data!['changed']])
  }
  expect(await patch({ name: 'other' })).toEqual([['board.updated', ['name']]])
  expect(await patch({ view: 'list' })).toEqual([['board.updated', ['view']]])
  expect(await patch({ parent_board_id: parent })).toEqual([['board.updated', ['parent_board_id']]])
  expect(await patch({ name: 'other', view: 'list', parent_board_id: parent })).toEqual([])
  expect(await patch({ scheduled_date: '2026-03-01', day_label: 'Day 1' })).toEqual([])
  expect(await patch({ props: { a: 1 }, identifiers: [{ scope: 's', value: 'v' }] })).toEqual([])
  expect(await patch({ name: 'third', day_label: null })).toEqual([['board.updated', ['name']]])
})

test('[V5] a board that is removed outright is board.deleted alone; its children say that their parent changed', async () => {
  const id = await makeBoard('gone')
  const child = await makeBoard('child', { parent_board_id: id })
  await makeCards(id, 3)
  await service.admin`delete from boards where id = ${id}`
  const events = await taken()
  expect(sorted(events.map(({ type, board_id, data }) => [type, board_id, data!['changed']]))).toEqual([
    JSON.stringify(['board.deleted', id, []]),
    JSON.stringify(['board.updated', child, ['parent_board_id']]),
  ])
  await service.admin`delete from images`
  expect(await taken()).toEqual([])
})

test('[V6] what is rolled back leaves no event, and what is refused neither', async () => {
  const id = await makeBoard()
  await service.admin
    .begin(async (tx) => {
      await tx`update boards set name = 'never' where id = ${id}`
      await tx`delete from card_index`
      await tx`insert into images (image_key, workspace_id, content_type) values ('never', ${user.workspaceId}, 'image/png')`
      throw new Error('rolled back')
    })
    .catch((error: Error) => expect(error.message).toBe('rolled back'))
  const stranger = await service.user()
  expect((await stranger.api.post(`/boards/${id}/cards`, { kind: 'note' })).status).toBe(404)
  expect((await user.api.post(`/boards/${id}/cards`, { kind: 'nothing' })).status).toBe(400)
  expect(await taken()).toEqual([])
})

test('[V10] what is rebuilt, or written without a change, fires nothing', async () => {
  const id = await makeBoard()
  const cards = await makeCards(id, 3)
  await service.admin`update card_index set op = gen_random_uuid(), cause = 'rebuild', title = 'mended', hash = 'mended' where board_id = ${id}`
  await insertCard(id, { id: 'found', cause: 'rebuild' })
  await service.admin`update card_index set deleted_at = now(), op = gen_random_uuid(), cause = 'rebuild' where board_id = ${id} and card_id = 'found'`
  await service.admin`update card_index set updated_at = now(), position = position + 1 where board_id = ${id}`
  await service.admin`update boards set updated_at = now() where id = ${id}`
  await service.admin`update boards set name = name where id = ${id}`
  expect(await taken()).toEqual([])
  // A row that a rebuild wrote last is changed by SQL all the same.
  await service.admin`update card_index set body = 'x' where board_id = ${id} and card_id = ${cards[0]!}`
  expect(await taken()).toMatchObject([{ type: 'card.updated', card_ids: [cards[0]] }])
})
