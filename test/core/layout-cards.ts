/** Cards to lay out, arbitrary ones among them, and how to look at what comes of it. */
import * as fc from 'fast-check'
import {
  defaultOptions,
  type LayoutCard,
  type LayoutOptions,
  type CardPlace,
} from '../../core/layout/arrangement.ts'
import { boundingBox, type Rect } from '../../core/layout/box.ts'
import { layoutNames, type LayoutName, solveLayout } from '../../core/layout/solve.ts'

export const plain = { kind: 'note', rotation: 0, section_header: false, sub: null, group_id: null }
export const named = (cards: Partial<LayoutCard>[]): LayoutCard[] =>
  cards.map((card, n) => ({ ...plain, id: `c${n}`, w: 280, h: 180, ...card }))
export const times = (count: number, card: Partial<LayoutCard> = {}) =>
  named(Array.from({ length: count }, () => card))

export const side = fc.oneof(
  fc.integer({ min: 40, max: 4000 }),
  fc.integer({ min: 40, max: 400 }),
  fc.double({ min: 40, max: 4000, noNaN: true }),
)
export const kind = fc.constantFrom('note', 'image', 'link', 'video', 'palette')
export const rotation = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  fc.constantFrom(90, -90, 180, 45),
  fc.double({ min: -180, max: 180, noNaN: true }),
)
export const anyCard = fc.record({
  kind,
  w: side,
  h: side,
  rotation,
  section_header: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  sub: fc.constantFrom(null, 'under it'),
  group_id: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom('a', 'b', 'c')),
})
export const usualCard = fc.record({
  kind,
  w: fc.integer({ min: 100, max: 400 }),
  h: fc.integer({ min: 100, max: 400 }),
})
export const anyOptions = fc.record({
  gap: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 1000 })),
  width: fc.oneof(
    fc.constant(null),
    fc.integer({ min: 100, max: 5000 }),
    fc.integer({ min: 100, max: 100_000 }),
  ),
  rowHeight: fc.oneof(fc.integer({ min: 40, max: 400 }), fc.integer({ min: 40, max: 4000 })),
  columns: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 100 })),
})
export const usualOptions = fc.record({
  gap: fc.integer({ min: 0, max: 60 }),
  width: fc.integer({ min: 600, max: 3000 }),
  rowHeight: fc.integer({ min: 80, max: 400 }),
  columns: fc.constant(null),
})
export const anyLayout = fc.constantFrom(...layoutNames)
export const anyCards = fc.array(anyCard, { maxLength: 60, size: 'max' }).map(named)

export const solve = (layout: LayoutName, cards: LayoutCard[], options: Partial<LayoutOptions> = {}) =>
  solveLayout(layout, cards, { ...defaultOptions, ...options })
export const byId = (cards: LayoutCard[]) => new Map(cards.map((card) => [card.id, card]))
export const boxes = (cards: LayoutCard[], places: CardPlace[]): (Rect & { id: string })[] =>
  places.map((place) => ({
    id: place.id,
    ...boundingBox({ ...place, rotation: byId(cards).get(place.id)!.rotation }),
  }))

/** Pairs that are nearer to each other than the gap, on both axes. */
export function tooNear(rects: (Rect & { id: string })[], gap: number): string[] {
  const least = gap - 1e-5
  return rects.flatMap((a, at) =>
    rects
      .slice(at + 1)
      .filter((b) => Math.max(b.x - a.x - a.w, a.x - b.x - b.w, b.y - a.y - a.h, a.y - b.y - b.h) < least)
      .map((b) => `${JSON.stringify(a)} ${JSON.stringify(b)}`),
  )
}

/** Places that follow each other and lie on one line. */
export function rowsOf(places: CardPlace[]): CardPlace[][] {
  const rows: CardPlace[][] = []
  for (const place of places) {
    const row = rows.at(-1)
    if (row && row[0]!.y === place.y && row.at(-1)!.x < place.x) row.push(place)
    else rows.push([place])
  }
  return rows
}

/** Whether whole sizes can come from these proportions by rounding. */
export function keepsRatio(card: { w: number; h: number }, { w, h }: { w: number; h: number }): boolean {
  const ratio = card.w / card.h
  return (w + 1) / (h - 1) >= ratio - 1e-9 && (w - 1) / (h + 1) <= ratio + 1e-9
}
