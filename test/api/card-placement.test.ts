import { expect, test } from 'vitest'
import { openEditor } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { listCards, makeBoard, succeeded, type Shown } from './board.ts'

const { service, user } = await serviceOfFile({ workers: false })

interface Box {
  id: string
  left: number
  top: number
  right: number
  bottom: number
}

function boxOf(card: Shown): Box {
  const radians = (card['rotation'] * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))]
  const { x, y, w, h } = card as unknown as { x: number; y: number; w: number; h: number }
  const [width, height] = [w * cos + h * sin, w * sin + h * cos]
  const [left, top] = [x + (w - width) / 2, y + (h - height) / 2]
  return { id: card.id, left, top, right: left + width, bottom: top + height }
}

/** Pairs that overlap, of the first list among themselves and with the second. */
function overlaps(cards: Shown[], others: Shown[] = []): string[] {
  const fixed = others.map(boxOf)
  const found: string[] = []
  const placed = cards.map(boxOf)
  placed.forEach((a, at) => {
    for (const b of [...placed.slice(at + 1), ...fixed]) {
      const apart =
        a.right <= b.left + 0.01 ||
        b.right <= a.left + 0.01 ||
        a.bottom <= b.top + 0.01 ||
        b.bottom <= a.top + 0.01
      if (!apart) found.push(`${a.id} ${b.id}`)
    }
  })
  return found
}

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
  const second = await startService({ testDatabase: service.testDatabase, workers: false })
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
  await second.stop()
})

test('[C43] a board that a process has in memory reads with what another has written', async () => {
  const second = await startService({ testDatabase: service.testDatabase, workers: false })
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
  await second.stop()
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
