import { boundingBox, type Rect } from './box.ts'

/**
 * Cards whose tops differ by less than this are in one row. It is half the height of the smallest card, so that a card
 * below another card is always in another row.
 */
export const rowTolerance = 20

/** Returns cards in reading order: row by row, from left to right. */
export function readingOrder<Card extends Rect & { id: string; rotation: number }>(
  cards: readonly Card[],
): Card[] {
  const read = cards.map((card) => ({ card, ...boundingBox(card) }))
  read.sort((a, b) => a.y - b.y || a.x - b.x || (a.card.id < b.card.id ? -1 : 1))
  const ordered: Card[] = []
  for (let from = 0; from < read.length;) {
    let to = from
    while (to < read.length && read[to]!.y < read[from]!.y + rowTolerance) to++
    const row = read.slice(from, to)
    row.sort((a, b) => a.x - b.x || a.y - b.y || (a.card.id < b.card.id ? -1 : 1))
    for (const { card } of row) ordered.push(card)
    from = to
  }
  return ordered
}
