/** Reading cards: one alone, and as the canvas stores them. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { openEditor } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCard, makeCards, nowhere } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

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
