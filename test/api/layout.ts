/** Cards to lay out, and how they lie. */
import { boundingBox } from '../../core/layout/box.ts'
import type { Shown } from './board.ts'

export const places = (cards: Shown[]) => cards.map(({ id, x, y, w, h }: any) => ({ id, x, y, w, h }))

/** Pairs whose bounding boxes overlap, of the first list among themselves and with the second. */
export function overlaps(cards: Shown[], others: Shown[] = []): string[] {
  const boxOf = (card: Shown) => ({ id: card.id, ...boundingBox(card as any) })
  const [own, fixed] = [cards.map(boxOf), others.map(boxOf)]
  return own.flatMap((a, at) =>
    [...own.slice(at + 1), ...fixed]
      .filter(
        (b) =>
          a.x < b.x + b.w - 0.01 &&
          b.x < a.x + a.w - 0.01 &&
          a.y < b.y + b.h - 0.01 &&
          b.y < a.y + a.h - 0.01,
      )
      .map((b) => `${a.id} ${b.id}`),
  )
}

export const scattered = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    kind: n % 3 === 0 ? 'image' : 'note',
    title: `card ${n}`,
    body: `body ${n}`,
    x: ((n * 7919) % 3000) - 500,
    y: ((n * 104_729) % 3000) - 500,
    w: 60 + ((n * 37) % 500),
    h: 50 + ((n * 53) % 400),
    rotation: n % 7 === 0 ? (n * 11) % 180 : 0,
  }))
