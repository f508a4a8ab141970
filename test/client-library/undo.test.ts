/** Undo of the client's editor part, and what it keeps in memory. */
import { afterEach, expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { openBoard, type OpenBoard } from '../../client/editor/index.ts'
import { makeBoard } from '../api/board.ts'
import { Random } from '../crash/random.ts'
import { TestSocket } from '../support/editor.ts'
import { expectMemoryEqualsLog } from '../support/log-equality.ts'
import { serviceOfFile } from '../support/test-file.ts'

const { service, user } = await serviceOfFile({ debounceMs: 30 })
let board: OpenBoard
afterEach(() => board.close())

async function openNew(): Promise<string> {
  const { id } = await makeBoard(user)
  board = openBoard({ url: service.url, board: id, token: user.token, WebSocket: TestSocket })
  await board.ready
  return id
}

test('[LB40] undo takes back the last 200 steps; what older ones have removed leaves the memory', async () => {
  const id = await openNew()
  const cards = Array.from({ length: 300 }, (_, n) => board.cards.add({ kind: 'note', body: `Card ${n}` }))
  for (const card of cards) {
    board.newStep()
    board.cards.remove(card)
  }
  const keptTexts = () =>
    [...board.document.store.clients.values()]
      .flat()
      .filter((one) => one instanceof Y.Item && one.content instanceof Y.ContentString)
  expect(keptTexts()).toHaveLength(200)
  await board.saved()
  let steps = 0
  for (; board.history.get().canUndo; steps++) board.undo()
  expect(steps).toBe(200)
  expect(board.cards.get().map(({ body }) => body)).toEqual(
    expect.arrayContaining([...Array(200).keys()].map((n) => `Card ${n + 100}`)),
  )
  for (; board.history.get().canRedo; steps--) board.redo()
  expect(steps).toBe(0)
  await board.saved()
  await expectMemoryEqualsLog(service, id)
})

test('[LB40] what undo and redo have removed and brought back leaves the memory with the steps before', async () => {
  const id = await openNew()
  const card = board.cards.add({ kind: 'note' })
  const keptTexts = () =>
    [...board.document.store.clients.values()]
      .flat()
      .filter((one) => one instanceof Y.Item && one.content instanceof Y.ContentString).length
  for (let n = 0; n < 20; n++) {
    board.newStep()
    const other = board.cards.add({ kind: 'note', body: `Card ${n}` })
    board.newStep()
    board.cards.change(other, { body: `Text ${n}` })
    board.newStep()
    board.cards.remove(other)
    for (const step of ['undo', 'redo', 'undo', 'undo', 'undo'] as const) board[step]()
    expect(board.cards.find(other)).toBeUndefined()
    for (let times = 0; times < 3; times++) board.redo()
    board.newStep()
    board.cards.add({ kind: 'note', body: 'Taken back' })
    board.undo()
  }
  expect(keptTexts()).toBeGreaterThan(50)
  for (let x = 1; x <= 201; x++) {
    board.newStep()
    board.cards.change(card, { x })
  }
  expect(keptTexts()).toBe(0)
  for (let steps = 0; steps < 200; steps++) board.undo()
  expect(board.cards.find(card)).toMatchObject({ x: 1 })
  expect(board.history.get()).toEqual({ canUndo: false, canRedo: true })
  await board.saved()
  await expectMemoryEqualsLog(service, id)
})

test('[LB40] undo of a text that was removed and brought back takes and brings its own letters alone', async () => {
  const id = await openNew()
  const card = board.cards.add({ kind: 'note', body: 'abcdef' })
  const body = () => board.cards.find(card)?.body
  const change = (text: string) => {
    board.newStep()
    board.cards.change(card, { body: text })
  }
  const steps = (expected: (string | undefined)[], step: 'undo' | 'redo') => {
    for (const text of expected) {
      board[step]()
      expect(body()).toBe(text)
    }
  }
  change('abcdeAf')
  change('abcdeA')
  steps(['abcdeAf'], 'undo')
  board.newStep()
  board.cards.remove(card)
  steps(['abcdeAf', 'abcdef', undefined], 'undo')
  steps(['abcdef', 'abcdeAf', undefined], 'redo')
  steps(['abcdeAf'], 'undo')
  change('abcdeACf')
  change('abcdeABCf')
  board.newStep()
  board.cards.remove(card)
  steps(['abcdeABCf', 'abcdeACf', 'abcdeAf', 'abcdef'], 'undo')
  steps(['abcdeAf', 'abcdeACf', 'abcdeABCf', undefined], 'redo')
  await board.saved()
  await expectMemoryEqualsLog(service, id)
})

/** Whoever applies the same updates has to get the same text. */
async function expectSameEverywhere(id: string, body: string): Promise<void> {
  await board.saved()
  await expectMemoryEqualsLog(service, id)
  const there = openBoard({ url: service.url, board: id, token: user.token, WebSocket: TestSocket })
  await there.ready
  expect([board, there].map(({ cards }) => cards.get()[0]?.body)).toEqual([body, body])
  there.close()
  expect((await user.api.get(`/boards/${id}/cards`)).body.cards[0].body).toBe(body)
}

const step = (change: () => void) => {
  board.newStep()
  change()
}
const insert = (card: string, at: number, text: string) =>
  step(() => board.transact(() => board.cards.text(card)!.insert(at, text)))

test('[LB40] what undo brings back has one place, here, at other editors and in the service', async () => {
  const id = await openNew()
  const card = board.cards.add({ kind: 'note', body: 'AB' })
  insert(card, 2, 'CD')
  board.undo()
  board.redo()
  insert(card, 3, 'G')
  step(() => board.cards.remove(card))
  board.undo()
  await expectSameEverywhere(id, 'ABCGD')
})

test('[LB40] a field goes back step by step, also where a later value was taken back', async () => {
  await openNew()
  const card = board.cards.add({ kind: 'note', color: 'red' })
  step(() => board.cards.change(card, { color: null }))
  for (const color of ['blue', 'green']) {
    step(() => board.cards.change(card, { color }))
    board.undo()
  }
  board.undo()
  expect(board.cards.find(card)).toMatchObject({ color: 'red' })
  board.redo()
  expect(board.cards.find(card)!['color']).toBeUndefined()
})

test('[LB40] undo goes on when somebody else has removed what it brought back', async () => {
  const id = await openNew()
  const card = board.cards.add({ kind: 'note', body: 'ab' })
  step(() => board.cards.change(card, { body: 'b' }))
  step(() => board.cards.remove(card))
  board.undo()
  insert(card, 0, 'X')
  board.undo()
  insert(card, 0, 'Y')
  await board.saved()
  expect((await user.api.delete(`/boards/${id}/cards/${card}`)).status).toBe(200)
  await vi.waitUntil(() => !board.cards.find(card))
  while (board.history.get().canUndo) board.undo()
  expect(board.cards.get()).toEqual([])
})

test('[LB40] random steps, taken back and done again, lead through the same states', async () => {
  await openNew()
  const seed = Date.now() % 1_000_000
  const dice = new Random(seed)
  const random = () => dice.next()
  const { cards } = board
  const state = () => {
    const shown = cards.get().map(({ id, x, body }) => JSON.stringify([id, x, body]))
    return shown.toSorted((a, b) => a.localeCompare(b)).join('\n')
  }
  const past: string[] = []
  let future: string[] = []
  for (let n = 0; n < 3000; n++) {
    const before = state()
    const what = random()
    const [from, to] = what < 0.3 ? [past, future] : [future, past]
    if (what < 0.5) {
      if (what < 0.3) board.undo()
      else board.redo()
      const expected = from.pop()
      expect(state(), `seed ${seed}, step ${n}`).toBe(expected ?? before)
      if (expected !== undefined) to.push(before)
      continue
    }
    board.newStep()
    const { id } = cards.get()[Math.floor(random() * cards.get().length)] ?? { id: '' }
    if (what < 0.65 || !id) cards.add({ kind: 'note', body: `Card ${n}` })
    else if (what < 0.75) cards.remove(id)
    else if (what < 0.85) cards.change(id, { x: n })
    else cards.change(id, { body: `${cards.find(id)!.body} ${n}`.slice(-20) })
    past.push(before)
    if (past.length > 200) past.shift()
    future = []
  }
})
