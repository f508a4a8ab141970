/** Bodies that are expensive to compare and to merge: the main thread stays free, and no word is lost. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type * as Y from 'yjs'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { longestTurnMs } from '../support/main-thread.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCards } from './board.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService()
  user = await service.user()
})

afterEach(() => leaveAll())

afterAll(() => service.stop())

/** A text that has next to nothing in common with one of another seed, of words and of characters that repeat. */
function textOf(seed: number, length = 15_000): string {
  let state = seed + 1
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += 'etaoin   '[state >>> 29] ?? ' '
  }
  return text
}

const wordOf = (n: number) => `TYPED${n}`

test('[T22] expensive bodies of a request are planned off the main thread, and what an editor typed stays', async () => {
  const { id: boardId } = await makeBoard(user)
  const count = 12
  const cards = await makeCards(
    user,
    boardId,
    Array.from({ length: count }, (_, n) => ({ body: textOf(n) })),
  )
  const editor = await openEditor(service.url, { boardId, token: user.token })
  editor.document.transact(() => {
    for (const [n, { id }] of cards.entries())
      (editor.cards.get(id)!.get('body') as Y.Text).insert(9_000 + n, wordOf(n))
  })
  await editor.saved()
  const body = JSON.stringify({
    cards: cards.map(({ id }, n) => ({ id, body: textOf(n + 1000), body_base: textOf(n) })),
  })
  let status = 0
  const turn = await longestTurnMs(async () => {
    const response = await fetch(`${service.url}/api/v1/boards/${boardId}/cards`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
      body,
    })
    status = response.status
    await response.arrayBuffer()
  })
  expect(status).toBe(200)
  // Before, they were compared one after the other while the commit was put together: seconds.
  expect(turn).toBeLessThan(200)
  const bodies = new Map((await listCards(user, boardId)).map(({ id, body }) => [id, String(body)]))
  for (const [n, { id }] of cards.entries()) expect(bodies.get(id)!.includes(wordOf(n))).toBe(true)
})

test('[T26] a merge that would be longer than a body may be is 400 that names the field, and no word is lost', async () => {
  const { id: boardId } = await makeBoard(user)
  const base = textOf(1, 19_990).slice(0, 19_990)
  const cards = await makeCards(user, boardId, [{ body: base }, { body: 'short' }])
  const ids = cards.map(({ id }) => id)
  const path = `/boards/${boardId}/cards`
  const theirs = `THEIRS. ${base}`
  expect((await user.api.patch(`${path}/${ids[0]}`, { body: theirs })).status).toBe(200)
  const mine = { body: `${base} MINE.`, body_base: base }
  const single = await user.api.patch(`${path}/${ids[0]}`, mine)
  const bulk = await user.api.patch(path, {
    cards: [
      { id: ids[1], title: 'first' },
      { id: ids[0], ...mine },
    ],
  })
  for (const [{ status, body }, where] of [
    [single, ''],
    [bulk, 'cards[1].'],
  ] as const) {
    expect([status, body.code]).toEqual([400, 'bad_request'])
    expect(body.error.startsWith(`${where}body: merged with the changes of other writers`)).toBe(true)
  }
  const shown = await listCards(user, boardId)
  expect(shown.map(({ id, body, title }) => [id, body, title])).toEqual(
    expect.arrayContaining([
      [ids[0], theirs, null],
      [ids[1], 'short', null],
    ]),
  )
  // Without a base the text replaces theirs.
  expect((await user.api.patch(`${path}/${ids[0]}`, { body: mine.body })).status).toBe(200)
})

test('[T22] 1,000 bodies are changed by one request', async () => {
  const { id: boardId } = await makeBoard(user)
  const cards = await makeCards(
    user,
    boardId,
    Array.from({ length: 1000 }, (_, n) => ({ body: textOf(n, 1000) })),
  )
  const changes = cards.map(({ id }, n) => ({ id, body: textOf(n + 1000, 1000), body_base: textOf(n, 1000) }))
  const answer = await user.api.patch(`/boards/${boardId}/cards`, { cards: changes })
  expect([answer.status, answer.body.updated]).toEqual([200, 1000])
  const after = new Map((await listCards(user, boardId)).map(({ id, body }) => [id, body]))
  expect(changes.every(({ id, body }) => after.get(id) === body)).toBe(true)
})

test('[T23] what an editor types into a large body while it is planned stays', async () => {
  const { id: boardId } = await makeBoard(user)
  const [card] = await makeCards(user, boardId, [{ body: textOf(1, 15_000) }])
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const text = editor.cards.get(card!.id)!.get('body') as Y.Text
  const patching = user.api.patch(`/boards/${boardId}/cards/${card!.id}`, {
    body: textOf(2, 15_000),
    body_base: textOf(1, 15_000),
  })
  const answered = patching.then(() => true)
  let typed = 0
  do {
    typed += 1
    text.insert(text.length, `<${typed}>`)
  } while (!(await Promise.race([answered, delay(5, false)])))
  expect((await patching).status).toBe(200)
  await editor.saved()
  expect(typed).toBeGreaterThan(1)
  const [shown] = await listCards(user, boardId)
  for (let n = 1; n <= typed; n++) expect(String(shown!['body']).includes(`<${n}>`)).toBe(true)
  await until(() => text.toString() === shown!['body'], 'the editor sees the same')
})
