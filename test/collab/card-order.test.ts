/** The order of a board's cards, which the pages of a board share. */
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { currentOrder } from '../../collab/boards/card-order.ts'
import { cardFields } from '../../core/card.ts'

const board = (size: number) => {
  const document = new Y.Doc()
  const cards = document.getMap<Y.Map<unknown>>('cards')
  document.transact(() => {
    for (let n = 0; n < size; n++)
      cards.set(`c${String(n).padStart(5, '0')}`, new Y.Map<unknown>([['kind', 'note']]))
  })
  return { document, cards }
}

test('[C190] pages share one sorting until the board changes', async () => {
  const { document, cards } = board(3)
  const [first, together] = [currentOrder(document), currentOrder(document)]
  expect(together).toBe(first)
  expect(await first).toEqual(['c00000', 'c00001', 'c00002'])
  document.transact(() => undefined) // changes nothing
  expect(currentOrder(document)).toBe(first)

  cards.get('c00000')!.set('z', 5)
  expect(await currentOrder(document)).toEqual(['c00001', 'c00002', 'c00000'])
  cards.delete('c00001')
  expect(await currentOrder(document)).toEqual(['c00002', 'c00000'])
  Y.applyUpdate(document, Y.encodeStateAsUpdate(board(1).document), 'another node')
  expect(await currentOrder(document)).toEqual(await currentOrder(document))
  expect((await currentOrder(document)).length).toBe(cards.size)
})

test('[C190] cards whose z is beyond what a card can have are in the order of what is shown', async () => {
  const { document, cards } = board(3)
  for (const [id, z] of Object.entries({ c00000: 1e308, c00001: cardFields.z.read(1e308), c00002: -1e308 }))
    cards.get(id)!.set('z', z)
  expect(await currentOrder(document)).toEqual(['c00002', 'c00000', 'c00001'])
})

test('[C190] a card that comes while the board is sorted is in the next page', async () => {
  const { document, cards } = board(20_000)
  const before = currentOrder(document)
  cards.set('new', new Y.Map<unknown>([['kind', 'note']]))
  const after = currentOrder(document)
  expect(after).not.toBe(before)
  expect(await after).toContain('new')
  await before
  expect(currentOrder(document)).toBe(after)
})
