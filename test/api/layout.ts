/** Cards to lay out, and how they lie. */
import type { Shown } from './board.ts'

export const places = (cards: Shown[]) => cards.map(({ id, x, y, w, h }: any) => ({ id, x, y, w, h }))

/** The upright rectangle around a rotated card, worked out without the code of the service. */
function boxOf(card: Shown) {
  const radians = (card['rotation'] * Math.PI) / 180
  const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))]
  const { x, y, w, h } = card as unknown as { x: number; y: number; w: number; h: number }
  const [width, height] = [w * cos + h * sin, w * sin + h * cos]
  const [left, top] = [x + (w - width) / 2, y + (h - height) / 2]
  return { id: card.id, left, top, right: left + width, bottom: top + height }
}

/** Pairs whose boxes overlap, of the first list among themselves and with the second. */
export function overlaps(cards: Shown[], others: Shown[] = []): string[] {
  const [own, fixed] = [cards.map(boxOf), others.map(boxOf)]
  return own.flatMap((a, at) =>
    [...own.slice(at + 1), ...fixed]
      .filter(
        (b) =>
          a.left < b.right - 0.01 &&
          b.left < a.right - 0.01 &&
          a.top < b.bottom - 0.01 &&
          b.top < a.bottom - 0.01,
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
