/** Cards that are created in a layout. */
import { expect, test } from 'vitest'
import { layoutNames } from '../../core/layout/solve.ts'
import { openEditor, until } from '../support/editor.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCards, succeeded, type Shown } from './board.ts'
import { overlaps, places, scattered } from './layout.ts'

const { service, user } = await serviceOfFile({ workers: false })

test('[Z40] a batch with a layout is arranged as one block in free space, also cards that carry their own place', async () => {
  for (const layout of layoutNames) {
    const board = await makeBoard(user)
    const there = await makeCards(user, board.id, [
      { x: 50, y: 60 },
      { x: 400, y: 900, rotation: 45 },
    ])
    const batch = [
      { kind: 'note', title: 'Heading', section_header: true, sub: 'below', w: 300, h: 40, x: 50, y: 60 },
      ...scattered(20).map((card, n) =>
        n % 2 ? { ...card, x: 50, y: 60 } : { ...card, x: undefined, y: undefined },
      ),
    ]
    const answer = await user.api.post(`/boards/${board.id}/cards`, { cards: batch, layout })
    expect(answer.status).toBe(201)
    expect(answer.body.live).toBe(true)
    const made: Shown[] = answer.body.cards
    expect(made.map(({ title }: any) => title)).toEqual(batch.map(({ title }) => title))
    expect(overlaps(made, there)).toEqual([])
    const listed = new Map((await listCards(user, board.id)).map((card) => [card.id, card]))
    for (const card of made) expect(listed.get(card.id)).toMatchObject(places([card])[0]!)
    const block = {
      left: Math.min(...made.map(({ x }: any) => x)),
      top: Math.min(...made.map(({ y }: any) => y)),
    }
    expect(Math.min(...there.map(({ x }: any) => Math.abs(block.left - x)))).toBeLessThan(8000)
    expect(made[0]).toMatchObject({ h: 64, y: block.top })
  }
  const board = await makeBoard(user)
  const single = await user.api.post(`/boards/${board.id}/cards`, {
    kind: 'note',
    x: 5000,
    y: 5000,
    layout: 'row',
  })
  expect(single.body.cards[0]).toMatchObject({ x: 0, y: 0, w: 280, h: 180 })
})

test('[Z41] 1,000 cards with a layout land at once on the canvases, written whole or not at all', async () => {
  const board = await makeBoard(user)
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const path = `/boards/${board.id}/cards`
  const cards = scattered(1000)
  const refused = await user.api.post(path, {
    cards: [...cards.slice(1), { kind: 'note', group_id: 'none' }],
    layout: 'grid',
  })
  expect([refused.status, (await user.api.get(path)).body.total]).toEqual([400, 0])
  const answer = await user.api.post(path, { cards, layout: 'justified' })
  expect([answer.status, answer.body.live, answer.body.cards.length]).toEqual([201, true, 1000])
  await until(() => editor.cards.size === 1000, 'the editor has all cards', 2000)
  expect(overlaps(answer.body.cards)).toEqual([])
  for (const { id, x, y, w, h } of answer.body.cards as any[]) {
    const card = editor.cards.get(id)!
    expect([card.get('x'), card.get('y'), card.get('w'), card.get('h')]).toEqual([x, y, w, h])
  }
})

test('[Z42] an unknown layout on create is 400 that names those there are', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  for (const layout of ['spiral', '', null, 7]) {
    const answer = await user.api.post(path, { kind: 'note', layout })
    expect([layout, answer.status]).toEqual([layout, 400])
    expect(answer.body.error).toMatch(/^layout must be one of: justified, masonry, grid, row, column/)
  }
  expect((await user.api.get(path)).body.total).toBe(0)
})

test('[Z43] cards that are removed come back by their tokens in a layout', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const made = await makeCards(user, board.id, [
    { w: 300, h: 100 },
    { w: 100, h: 300 },
  ])
  const removed = succeeded(await user.api.delete(path, { card_ids: made.map(({ id }) => id) })).cards
  const back = succeeded(await user.api.post(path, { cards: removed, layout: 'row' })).cards
  expect(places(back).map(({ x, y, w, h }: any) => [x, y, w, h])).toEqual([
    [0, 0, 300, 100],
    [320, 0, 100, 300],
  ])
})
