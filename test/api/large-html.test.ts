/** HTML that is expensive to sanitise: the main thread stays free, and what is refused costs little. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { leaveAll, openEditor } from '../support/editor.ts'
import { longestTurnMs } from '../support/main-thread.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard } from './board.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService()
  user = await service.user()
})

afterEach(() => leaveAll())

afterAll(() => service.stop())

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
