/** Where cards lie: new ones without a place, those of a layout, and those that come from another board. */
import { afterAll, expect, test } from 'vitest'
import { verifyBoard } from '../../collab/log/verify.ts'
import { boundingBox } from '../../core/layout/box.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, makeCards, succeeded, type Shown } from './board.ts'
import { overlaps, places, scattered } from './layout.ts'

const { service, user } = await serviceOfFile({ workers: false })
/** Another process on the same database. */
const second = await startService({ testDatabase: service.testDatabase, workers: false })
afterAll(() => second.stop())

const sized = (n: number) => ({
  kind: 'note',
  w: 60 + ((n * 37) % 500),
  h: 50 + ((n * 53) % 400),
  rotation: n % 7 === 0 ? (n * 11) % 180 : 0,
})

test('[C34] cards without both coordinates lie in free space, clear of those with, also of the same batch', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const cards = Array.from({ length: 60 }, (_, n) =>
    n % 3 === 0
      ? { ...sized(n), x: (n % 10) * 600, y: Math.floor(n / 10) * 700 }
      : n % 3 === 1
        ? sized(n)
        : { ...sized(n), x: 5 },
  )
  const given = (all: Shown[]) => all.filter((_, n) => n % 3 === 0)
  const placed = (all: Shown[]) => all.filter((_, n) => n % 3 !== 0)
  const first = succeeded(await user.api.post(path, { cards })).cards
  expect(given(first).map((card) => [card['x'], card['y']])).toEqual(
    cards.filter((_, n) => n % 3 === 0).map((card) => [(card as any).x, (card as any).y]),
  )
  expect(overlaps(placed(first), given(first))).toEqual([])
  const second = succeeded(await user.api.post(path, { cards: cards.slice(1, 3) })).cards
  expect(overlaps(second, first)).toEqual([])
  for (const card of [...placed(first), ...second])
    expect([card['x'] % 1, card['y'] % 1].map(Math.abs)).toEqual([0, 0])
})

test('[C35] 1,000 cards are placed without overlap while an editor moves and adds cards and a second client places its own', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const editor = await openEditor(service.url, { boardId: board.id, token: user.token })
  const still: Shown[] = succeeded(
    await user.api.post(path, {
      cards: Array.from({ length: 40 }, (_, n) => ({
        kind: 'note',
        x: (n % 8) * 411,
        y: Math.floor(n / 8) * 333,
      })),
    }),
  ).cards
  for (let n = 0; n < 20; n++) editor.addCard(`moving-${n}`, { x: 0, y: -50_000 + n * 200 })
  await editor.saved()

  let step = 0
  const moving = setInterval(() => {
    step += 1
    editor.cards.get(`moving-${step % 20}`)!.set('x', (step * 31) % 3000)
    editor.addCard(`added-${step}`, { x: (step * 17) % 3000, y: -90_000 - step * 200 })
  }, 3)
  const inBatches = async (batches: number, size: number) => {
    const made: Shown[] = []
    for (let n = 0; n < batches; n++) {
      const cards = Array.from({ length: size }, (_, k) => sized(n * size + k))
      made.push(...succeeded(await user.api.post(path, size === 1 ? cards[0] : { cards })).cards)
    }
    return made
  }
  const positioned = async () => {
    const made: Shown[] = []
    for (let n = 0; n < 30; n++)
      made.push(...succeeded(await user.api.post(path, { kind: 'note', x: 100_000 + n * 300, y: 0 })).cards)
    return made
  }
  const placed = (
    await Promise.all([inBatches(1, 1000), inBatches(8, 25), inBatches(20, 1), inBatches(20, 1)])
  ).flat()
  const fixed = await positioned()
  clearInterval(moving)
  await editor.saved()
  expect(step).toBeGreaterThan(10)
  expect(placed).toHaveLength(1240)
  expect(overlaps(placed, [...still, ...fixed])).toEqual([])
  const listed = new Map((await listCards(user, board.id)).map((card) => [card.id, card]))
  for (const { id, x, y } of placed as any[]) expect(listed.get(id)).toMatchObject({ x, y })
  expect(editor.cards.size).toBe(40 + 20 + step + 1240 + 30)
})

test('[C36] cards that two processes place on one board at the same time do not overlap', async () => {
  const board = await makeBoard(user)
  const clients = [service, second].map(({ url }) => new ApiClient(url, user.token))
  const placed = await Promise.all(
    clients.map(async (client) => {
      const made: Shown[] = []
      for (let n = 0; n < 25; n++) {
        const cards = Array.from({ length: 1 + (n % 4) }, (_, k) => sized(n + k))
        made.push(...succeeded(await client.post(`/boards/${board.id}/cards`, { cards })).cards)
      }
      return made
    }),
  )
  expect(overlaps(placed.flat())).toEqual([])
  expect((await clients[1]!.get(`/boards/${board.id}/cards`)).body.total).toBe(placed.flat().length)
})

test('[C43] a board that a process has in memory reads with what another has written', async () => {
  const board = await makeBoard(user)
  const [here, there] = [service, second].map(({ url }) => new ApiClient(url, user.token)) as [
    ApiClient,
    ApiClient,
  ]
  const path = `/boards/${board.id}/cards`
  for (let n = 1; n <= 20; n++) {
    const [writer, reader] = n % 2 === 0 ? [here, there] : [there, here]
    expect((await writer.post(path, { kind: 'note', x: n * 300, y: 0 })).status).toBe(201)
    expect((await reader.get(path)).body.total).toBe(n)
  }
})

test('[C37] a restored card without coordinates is placed by the size it had', async () => {
  const board = await makeBoard(user)
  const path = `/boards/${board.id}/cards`
  const [wide] = succeeded(await user.api.post(path, { kind: 'note', x: 0, y: 0, w: 3000, h: 2000 })).cards
  const { restore_token } = (await user.api.delete(`${path}/${wide.id}`)).body.card
  const others = succeeded(
    await user.api.post(path, { cards: Array.from({ length: 10 }, () => ({ kind: 'note' })) }),
  ).cards
  const [back] = succeeded(await user.api.post(path, { kind: 'note', restore_token })).cards
  expect(back).toMatchObject({ w: 3000, h: 2000 })
  expect(overlaps([back], others)).toEqual([])
})

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

const move = (from: string, to: string, ids: string[]) =>
  user.api.post(`/boards/${from}/cards/move`, { to_board_id: to, card_ids: ids })

async function verified(...boardIds: string[]): Promise<void> {
  for (const boardId of boardIds) expect(await verifyBoard(service.database, boardId)).toEqual([])
}

/** Two boards, and cards on the first. */
async function scene(cards: Record<string, unknown>[]) {
  const [from, to] = [await makeBoard(user), await makeBoard(user)]
  return { from: from.id, to: to.id, cards: await makeCards(user, from.id, cards) }
}

test('[CM8] cards keep their places where those are free, else how they lie to each other, clear of what is there', async () => {
  const { from, to, cards } = await scene([
    { x: 100, y: 50 },
    { x: 150, y: 500, rotation: 45 },
  ])
  const ids = cards.map(({ id }) => id)
  expect((await move(from, to, ids)).body.cards.map(({ x, y }: Shown) => [x, y])).toEqual([
    [100, 50],
    [150, 500],
  ])
  const again = await makeCards(user, from, [
    { x: 100, y: 50 },
    { x: 150, y: 500, rotation: 45 },
  ])
  const { body } = await move(
    from,
    to,
    again.map(({ id }) => id),
  )
  const [a, b] = body.cards
  expect([b.x - a.x, b.y - a.y]).toEqual([50, 450])
  const there = await listCards(user, to)
  expect(there).toHaveLength(4)
  for (const [n, one] of there.entries())
    for (const other of there.slice(n + 1)) expect(overlap(one, other)).toBe(false)
  await verified(from, to)
})

function overlap(a: Shown, b: Shown): boolean {
  const [p, q] = [boundingBox(a as any), boundingBox(b as any)]
  return p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h
}

test('[CM9] 1,000 cards that are spread over the whole board find places on one that is not empty', async () => {
  const spread = Array.from({ length: 1000 }, (_, n) => ({
    kind: 'note',
    x: n % 2 === 0 ? -1_000_000 + n * 500 : 900_000 - n * 500,
    y: (n * 7919) % 900_000,
  }))
  const { from, to, cards } = await scene(spread)
  const blocking = spread.slice(0, 3).map(({ x, y }) => ({ x, y }))
  await makeCards(user, to, blocking)
  const answer = await move(
    from,
    to,
    cards.map(({ id }) => id),
  )
  expect(answer.body).toMatchObject({ moved: 1000, live: true })
  const there = await listCards(user, to)
  expect(there).toHaveLength(1003)
  const sorted = there
    .map((card) => ({ card, box: boundingBox(card as any) }))
    .sort((a, b) => a.box.x - b.box.x)
  const clashes = sorted.flatMap(({ card, box }, n) => {
    const found: string[] = []
    for (let m = n + 1; m < sorted.length && sorted[m]!.box.x < box.x + box.w; m++)
      if (overlap(card, sorted[m]!.card)) found.push(card.id)
    return found
  })
  expect(clashes).toEqual([])
  await verified(from, to)
})
