/** Aligns cards and spreads them evenly. Turned cards count by what they cover. */
import type { EditorCard as Card } from '../../../client/editor/index.ts'
import { boundsOf, boxOf, type Box, type Frames } from '../geometry.ts'

export const alignments = {
  left: { label: 'Align left', axis: 'x', at: 0 },
  centre: { label: 'Align centres', axis: 'x', at: 0.5 },
  right: { label: 'Align right', axis: 'x', at: 1 },
  top: { label: 'Align top', axis: 'y', at: 0 },
  middle: { label: 'Align middles', axis: 'y', at: 0.5 },
  bottom: { label: 'Align bottom', axis: 'y', at: 1 },
} as const
export type Alignment = keyof typeof alignments

type Axis = 'x' | 'y'
const sideOf = { x: 'w', y: 'h' } as const

const boxes = (cards: readonly Card[]) => cards.map((card) => ({ card, box: boxOf(card, card) }))

/** Where a card is when what it covers moves along an axis. */
const moved = (card: Card, axis: Axis, by: number) =>
  [card.id, { x: card.x, y: card.y, [axis]: card[axis] + by }] as const

export function aligned(cards: readonly Card[], how: Alignment): Frames {
  const { axis, at } = alignments[how]
  const shown = boxes(cards)
  const all = boundsOf(shown.map(({ box }) => box))
  if (!all) return new Map()
  const to = (box: Box) => all[axis] + (all[sideOf[axis]] - box[sideOf[axis]]) * at
  return new Map(shown.map(({ card, box }) => moved(card, axis, to(box) - box[axis])))
}

/** The first and the last stay. The gaps between all become the same. */
export function distributed(cards: readonly Card[], axis: Axis): Frames {
  const side = sideOf[axis]
  const shown = boxes(cards).toSorted((a, b) => a.box[axis] - b.box[axis])
  const all = boundsOf(shown.map(({ box }) => box))
  if (!all || shown.length < 3) return new Map()
  const gap = (all[side] - shown.reduce((sum, { box }) => sum + box[side], 0)) / (shown.length - 1)
  let next = all[axis]
  return new Map(
    shown.map(({ card, box }) => {
      const place = moved(card, axis, next - box[axis])
      next += box[side] + gap
      return place
    }),
  )
}
