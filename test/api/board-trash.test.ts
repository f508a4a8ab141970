/** Boards that are deleted and come back. */
import { afterAll, expect, test } from 'vitest'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { startService } from '../support/service.ts'
import { makeBoard, makeCard, makeCards } from './board.ts'

const service = await startService({ workers: false })
const user = await service.user()
afterAll(async () => {
  leaveAll()
  await service.stop()
})

const millisecond = () => new Promise((resolve) => setTimeout(resolve, 2))
const read = async (id: string, who = user) => (await who.api.get(`/boards/${id}`)).body.board

test('[B12] deleting puts a board into the trash, where it can be read; again is a no-op', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id)
  const first = await user.api.delete(`/boards/${board.id}`)
  expect(first.status).toBe(200)
  expect(first.body).toEqual({
    deleted: true,
    board: expect.objectContaining({ id: board.id, deleted: true }),
    restorable: true,
  })
  await millisecond()
  const second = await user.api.delete(`/boards/${board.id}`)
  expect(second.status).toBe(200)
  expect(second.body).toEqual(first.body)
  expect((await read(board.id)).deleted).toBe(true)
  expect((await user.api.get(`/boards/${board.id}/cards`)).body.cards[0].id).toBe(card.id)
  expect((await user.api.get(`/boards/${board.id}/cards?source=index`)).body.cards[0].id).toBe(card.id)
  const listed = async (query: string) =>
    (await user.api.get(`/boards?limit=500${query}`)).body.boards.some((one: any) => one.id === board.id)
  expect([await listed(''), await listed('&deleted=0'), await listed('&deleted=1')]).toEqual([
    false,
    false,
    true,
  ])
  const trash = (await user.api.get('/boards?deleted=1&limit=500')).body.boards
  expect(trash.every((one: any) => one.deleted)).toBe(true)
})

test('[B13] a board in the trash refuses every write with 409', async () => {
  const board = await makeBoard(user)
  const card = await makeCard(user, board.id)
  await user.api.delete(`/boards/${board.id}`)
  const path = `/boards/${board.id}`
  const answers = [
    await user.api.patch(path, { name: 'x' }),
    await user.api.patch(path, { parent_board_id: null }),
    await user.api.post(`${path}/cards`, { kind: 'note', x: 0, y: 0 }),
    await user.api.post(`${path}/cards`, { kind: 'note' }),
    await user.api.patch(`${path}/cards/${card.id}`, { title: 'x' }),
    await user.api.patch(`${path}/cards`, { cards: [{ id: card.id, title: 'x' }] }),
    await user.api.delete(`${path}/cards/${card.id}`),
    await user.api.delete(`${path}/cards`, { card_ids: [card.id] }),
  ]
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual(
    answers.map(() => [409, 'conflict']),
  )
})

test('[B14] restoring brings a board back with its cards; of a live board it is a no-op', async () => {
  const board = await makeBoard(user)
  const [card] = await makeCards(user, board.id, [{ title: 'kept' }])
  const live = await user.api.post(`/boards/${board.id}/restore`)
  expect([live.status, live.body.restored, live.body.board.deleted]).toEqual([200, false, false])
  await user.api.delete(`/boards/${board.id}`)
  const restored = await user.api.post(`/boards/${board.id}/restore`)
  expect([restored.status, restored.body.restored, restored.body.board.deleted]).toEqual([200, true, false])
  expect((await user.api.post(`/boards/${board.id}/restore`)).body.restored).toBe(false)
  expect((await user.api.get(`/boards/${board.id}/cards`)).body.cards).toMatchObject([
    { id: card!.id, title: 'kept' },
  ])
  expect((await user.api.post(`/boards/${board.id}/cards`, { kind: 'note' })).status).toBe(201)
})

test('[B15] deleting a board leaves its children live: they list at top level, and return under it', async () => {
  const parent = await makeBoard(user)
  const child = await makeBoard(user, { parent_board_id: parent.id })
  const roots = async () =>
    (await user.api.get('/boards?parent=root&limit=500')).body.boards.map((board: any) => board.id)
  expect(await roots()).not.toContain(child.id)
  await user.api.delete(`/boards/${parent.id}`)
  expect(await read(child.id)).toMatchObject({ deleted: false, parent_board_id: null })
  expect(await roots()).toContain(child.id)
  expect((await user.api.get(`/boards?parent=${parent.id}`)).body.boards).toEqual([])
  expect((await user.api.patch(`/boards/${child.id}`, { name: 'renamed' })).status).toBe(200)
  await user.api.post(`/boards/${parent.id}/restore`)
  expect((await read(child.id)).parent_board_id).toBe(parent.id)
  expect((await user.api.get(`/boards?parent=${parent.id}`)).body.boards).toHaveLength(1)
})

test('[B18] a restore that would pass the card cap is 402 and names the number; an empty board always fits', async () => {
  const owner = await service.user({ tier: 'free' })
  const [full, kept, empty] = [await makeBoard(owner), await makeBoard(owner), await makeBoard(owner)]
  await makeCards(
    owner,
    full.id,
    Array.from({ length: 60 }, () => ({})),
  )
  await owner.api.delete(`/boards/${full.id}`)
  await makeCards(
    owner,
    kept.id,
    Array.from({ length: 41 }, () => ({})),
  )
  const refused = await owner.api.post(`/boards/${full.id}/restore`)
  expect([refused.status, refused.body.code]).toEqual([402, 'limit_reached'])
  expect(refused.body['error']).toMatch(/\b101\b.*\b100\b/)
  expect((await read(full.id, owner)).deleted).toBe(true)
  const { cards } = (await owner.api.get(`/boards/${kept.id}/cards?limit=1`)).body
  await owner.api.delete(`/boards/${kept.id}/cards/${cards[0].id}`)
  expect((await owner.api.post(`/boards/${full.id}/restore`)).status).toBe(200)
  await owner.api.delete(`/boards/${empty.id}`)
  await service.admin`update board_documents set card_count = 70 where board_id = ${full.id}`
  expect((await owner.api.post(`/boards/${empty.id}/restore`)).status).toBe(200)
})

test('[B19] of two restores that fit only singly one goes through', async () => {
  const owner = await service.user({ tier: 'free' })
  for (let round = 0; round < 5; round++) {
    const boards = await Promise.all([makeBoard(owner), makeBoard(owner)])
    for (const { id } of boards) {
      await makeCards(
        owner,
        id,
        Array.from({ length: 60 }, () => ({})),
      )
      await owner.api.delete(`/boards/${id}`)
    }
    const answers = await Promise.all(boards.map(({ id }) => owner.api.post(`/boards/${id}/restore`)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 402])
    for (const { id } of boards) await owner.api.delete(`/boards/${id}`)
  }
})

test('[B20] deleting a board closes its sockets with 4403 and opens none until it is restored', async () => {
  const board = await makeBoard(user)
  const open = (expectRefusal: boolean) =>
    openEditor(service.url, { boardId: board.id, token: user.token, reconnect: false, expectRefusal })
  const editor = await open(false)
  editor.addCard('before')
  await editor.saved()
  await user.api.delete(`/boards/${board.id}`)
  await until(() => editor.closes.length > 0, 'the socket is closed', 1000)
  expect(editor.closes[0]!.code).toBe(4403)
  expect((await open(true)).cards.size).toBe(0)
  await user.api.post(`/boards/${board.id}/restore`)
  expect([...(await open(false)).cards.keys()]).toEqual(['before'])
})

test('[B21] a write and a deletion at the same time leave no card behind the deletion', async () => {
  for (let round = 0; round < 5; round++) {
    const board = await makeBoard(user)
    const writes = Array.from({ length: 10 }, () =>
      user.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }),
    )
    const deletion = user.api.delete(`/boards/${board.id}`)
    const answers = await Promise.all(writes)
    expect((await deletion).status).toBe(200)
    for (const { status } of answers) expect([201, 409]).toContain(status)
    const { total } = (await user.api.get(`/boards/${board.id}/cards`)).body
    expect(total).toBe(answers.filter(({ status }) => status === 201).length)
  }
})
