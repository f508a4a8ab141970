import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCards, nowhere } from './board.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  user = await service.user()
})
afterAll(async () => {
  leaveAll()
  await service.stop()
})

test('[MC20] one card reads as in the list, with its properties and identifiers, as the canvas has it now', async () => {
  const board = await makeBoard(user)
  const [card] = await makeCards(user, board.id, [
    { title: 'One', body: 'text', props: { a: 1 }, identifiers: [{ scope: 's', value: 'v' }] },
    { title: 'Other' },
  ])
  const path = `/boards/${board.id}/cards/${card!.id}`
  const [listed] = await listCards(user, board.id, '&include=props,identifiers')
  expect((await user.api.get(path)).body).toEqual({ card: listed })
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  editor.cards.get(card!.id)!.set('title', 'Dragged')
  await editor.saved()
  expect((await user.api.get(path.replace(board.id, board.id.toUpperCase()))).body.card.title).toBe('Dragged')
})

test('[MC20] a card that there is not, or on a board that one can’t see, is 404; an id that is none 400', async () => {
  const [board, other] = await Promise.all([makeBoard(user), makeBoard(user)])
  const [card] = await makeCards(user, board.id, [{}])
  const stranger = await service.user()
  const codeOf = async (path: string, caller = user) => (await caller.api.get(path)).body.code
  expect([
    await codeOf(`/boards/${board.id}/cards/nobody`),
    await codeOf(`/boards/${other.id}/cards/${card!.id}`),
    await codeOf(`/boards/${nowhere}/cards/${card!.id}`),
    await codeOf(`/boards/${board.id}/cards/${card!.id}`, stranger),
    await codeOf(`/boards/x/cards/${card!.id}`),
  ]).toEqual(['not_found', 'not_found', 'not_found', 'not_found', 'bad_request'])
})
