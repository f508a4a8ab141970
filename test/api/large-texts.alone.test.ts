/** Bodies that are expensive to compare and to merge, and HTML that is expensive to sanitise: the main thread stays free. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, expect, test } from 'vitest'
import type * as Y from 'yjs'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { longestTurnMs } from '../support/cpu-time.ts'
import { startService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCards } from './board.ts'

// Its indexes are not verified at the end: that would sanitise all HTML once more.
const service = await startService()
const user = await service.user()
afterEach(leaveAll)
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

/** Sends without a look at the answer beyond its status, so that little but the service is measured. */
async function send(by: TestUser, method: string, path: string, body?: string): Promise<number> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })
  await response.arrayBuffer()
  return response.status
}

/** As expensive as 4,000 tags can be, each text another. */
const sanitizedChars = () => service.nodes.reduce((sum, { live }) => sum + live.html.sanitizedChars, 0)
const expensive = (n: number) => `<p>${n}` + '<td colspan=1>'.repeat(2800)
const cardsOf = (count: number) =>
  JSON.stringify({
    cards: Array.from({ length: count }, (_, n) => ({
      kind: 'note',
      x: n,
      y: 0,
      html: expensive(n).slice(0, 18_000),
    })),
  })

test('[H10] html of more than 4,000 opening tags is 400 that names the field, and of 4,000 is taken', async () => {
  const { id } = await makeBoard(user)
  const tags = (count: number) => '<b>x</b>'.repeat(count)
  const refused = await user.api.post(`/boards/${id}/cards`, {
    cards: [
      { kind: 'note', x: 0, y: 0 },
      { kind: 'note', x: 0, y: 0, html: tags(4001) },
    ],
  })
  expect(refused.status).toBe(400)
  expect(refused.body.error).toBe('cards[1].html must have at most 4000 opening tags.')
  expect(await listCards(user, id)).toEqual([])
  const taken = await user.api.post(`/boards/${id}/cards`, { kind: 'note', x: 0, y: 0, html: tags(4000) })
  expect(taken.status).toBe(201)
  expect(taken.body.cards[0].html).toBe(tags(4000))
  const patched = await user.api.patch(`/boards/${id}/cards/${taken.body.cards[0].id}`, { html: tags(4001) })
  expect(patched.status).toBe(400)
})

test('[H10] what follows the 4,000th tag of an editor is left out when it is read, and stays on the canvas', async () => {
  const { id: boardId } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const html = '<b>x</b>'.repeat(4001)
  editor.addCard('many', { html })
  await editor.saved()
  const [card] = await listCards(user, boardId)
  expect(card!['html']).toBe('<b>x</b>'.repeat(4000))
  expect(editor.cards.get('many')!.get('html')).toBe(html)
})

test('[H11] a batch of expensive html that the board does not take costs little, and the answer says why', async () => {
  const free = await service.user({ tier: 'free' })
  const board = await makeBoard(free)
  const viewer = await service.user()
  await service.share(board.id, viewer, 'viewer')
  const body = cardsOf(300)
  const before = sanitizedChars()
  const full = await free.api.post(`/boards/${board.id}/cards`, body)
  expect([full.status, full.body.code]).toEqual([402, 'limit_reached'])
  expect(full.body.error).toMatch(/holds 100 cards; 0 are used and 300 more were sent/)
  expect(await send(viewer, 'POST', `/boards/${board.id}/cards`, body)).toBe(403)
  expect(await send(await service.user(), 'POST', `/boards/${board.id}/cards`, body)).toBe(404)
  expect(sanitizedChars()).toBe(before)
})

test('[H12] expensive html is sanitised off the main thread, when it is written and when it is read first', async () => {
  const { id: boardId } = await makeBoard(user)
  const body = cardsOf(60)
  const writing = await longestTurnMs(async () => {
    expect(await send(user, 'POST', `/boards/${boardId}/cards`, body)).toBe(201)
  })
  const editor = await openEditor(service.url, { boardId, token: user.token })
  for (let n = 0; n < 60; n++) editor.addCard(`e${n}`, { html: expensive(n), z: 5 })
  await editor.saved()
  editor.leave()
  const reading = await longestTurnMs(async () => {
    expect(await send(user, 'GET', `/boards/${boardId}/cards?limit=500`)).toBe(200)
  })
  expect(writing).toBeLessThan(200)
  expect(reading).toBeLessThan(200)
})

test('[H13] html that was sanitised is not sanitised again when it is read again, exported or changed elsewhere', async () => {
  const { id: boardId } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId, token: user.token })
  for (let n = 0; n < 30; n++) editor.addCard(`e${n}`, { html: `<script>x</script>again ${expensive(n)}` })
  await editor.saved()
  const htmlOf = async () => (await listCards(user, boardId)).map(({ html }) => String(html))
  const first = await htmlOf()
  const before = sanitizedChars()
  expect((await htmlOf()).every((html, at) => html === first[at])).toBe(true)
  expect(await send(user, 'GET', `/boards/${boardId}/export`)).toBe(200)
  expect(await send(user, 'PATCH', `/boards/${boardId}/cards/e1`, '{"x":7}')).toBe(200)
  expect(sanitizedChars()).toBe(before)
  expect(first.some((html) => html.includes('script'))).toBe(false)
})
