/** Cards as the canvas stores them. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { leaveAll, openEditor } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { listCards, makeBoard, makeCard } from './board.ts'

let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService()
  user = await service.user()
})

afterEach(() => leaveAll())

afterAll(() => service.stop())

test('[CM60] include=raw adds the card as it is stored, of kinds that only the app makes too, shared types as JSON', async () => {
  const { id: boardId } = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId, token: user.token })
  const card = editor.addCard('sched', {
    kind: 'schedule',
    title: 'Day',
    z: 4,
    identifiers: [{ scope: 's', value: 'v' }],
  })
  editor.document.transact(() => {
    const days = new Y.Array<unknown>()
    const day = new Y.Map<unknown>()
    card.set('days', days)
    days.push([day, [1, { deep: [true, null] }], 'text'])
    day.set('notes', new Y.Text('be early'))
    day.set('when', { from: 9, to: 17.5 })
    day.set('serial', 12345678901n)
    day.set('thumb', new Uint8Array([1, 2]))
    day.set('absent', undefined)
    const content = new Y.XmlFragment()
    card.set('content', content)
    const heading = new Y.XmlElement('heading')
    content.push([heading])
    heading.push([new Y.XmlText('Scene & take')])
  })
  await editor.saved()
  const [shown] = await listCards(user, boardId, '&include=raw')
  expect(shown).toMatchObject({ id: 'sched', kind: 'schedule', title: 'Day' })
  expect(shown!['raw']).toEqual({
    kind: 'schedule',
    title: 'Day',
    body: '',
    x: 0,
    y: 0,
    w: 280,
    h: 180,
    z: 4,
    identifiers: [{ scope: 's', value: 'v' }],
    days: [
      {
        notes: 'be early',
        when: { from: 9, to: 17.5 },
        serial: '12345678901',
        thumb: 'AQI=',
        absent: null,
      },
      [1, { deep: [true, null] }],
      'text',
    ],
    content: '<heading>Scene & take</heading>',
  })
  expect(shown).not.toHaveProperty('props')
  expect(shown).not.toHaveProperty('identifiers')
})

test('[CM61] raw goes with the other extras and with pages, is left out unless it is asked for, and misspelled is 400', async () => {
  const { id: boardId } = await makeBoard(user)
  await makeCard(user, boardId, { title: 'A', body: 'words', props: { a: 1 }, z: 1 })
  await makeCard(user, boardId, { title: 'B', z: 2 })
  const path = `/boards/${boardId}/cards`
  const { cards } = (await user.api.get(`${path}?include=props,identifiers,raw&limit=1&offset=0`)).body
  expect(cards).toMatchObject([
    {
      title: 'A',
      props: { a: 1 },
      identifiers: [],
      raw: { kind: 'note', title: 'A', body: 'words', props: { a: 1 } },
    },
  ])
  expect((await user.api.get(`${path}?include=raw&offset=1`)).body.cards).toMatchObject([
    { raw: { title: 'B' } },
  ])
  expect((await user.api.get(path)).body.cards[0]).not.toHaveProperty('raw')
  const misspelled = await user.api.get(`${path}?include=raws`)
  expect([misspelled.status, misspelled.body.error]).toEqual([400, expect.stringContaining('raw')])
})
