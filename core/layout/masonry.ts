/**
 * The layout `masonry`: columns of one width. Each card is added to the shortest column. A group has a separate block.
 */
import { limits } from '../limits.ts'
import type { Block, LayoutCard, CardPlace, WideOptions } from './arrangement.ts'
import type { Size } from './box.ts'
import { apart, stack, type Band } from './bands.ts'
import { fitInto, isUpright, placeIn, showsPicture, slotFor } from './card-slot.ts'
import { rowTolerance } from './reading-order.ts'

const { min, max, defaultW } = limits.cardSize

/**
 * Returns the number and width of columns: as many as fit with at least the default card width, and at most `columns`.
 */
export function columnsOf({ width, gap, columns }: WideOptions): { count: number; w: number } {
  const fitting = Math.max(1, Math.floor((width + gap) / (defaultW + gap)))
  const count = Math.min(fitting, columns ?? fitting)
  return { count, w: Math.min(max, Math.floor((width - gap * (count - 1)) / count)) }
}

export function masonry(bands: Band[], options: WideOptions): CardPlace[] {
  return stack(bands, options, (runs) =>
    apart(runs, () => true).map((part) => solveColumns(part.flat(), options)),
  )
}

function solveColumns(cards: LayoutCard[], options: WideOptions): Block {
  const { count, w } = columnsOf(options)
  const bottoms = Array.from({ length: count }, () => 0)
  const places: CardPlace[] = []
  // Columns that end within `rowTolerance` of the shortest column are filled from left to right. So the reading order
  // of the result equals the order of the cards.
  while (places.length < cards.length) {
    const shortest = Math.min(...bottoms)
    for (let column = 0; column < count && places.length < cards.length; column++) {
      const y = bottoms[column]!
      if (y >= shortest + rowTolerance) continue
      const card = cards[places.length]!
      const size = sizeAtWidth(card, w)
      const slot = slotFor(card, size)
      places.push(placeIn(card, size, { x: column * (w + options.gap), y, ...slot }))
      bottoms[column] = y + slot.h + options.gap
    }
  }
  return { places, h: Math.max(...bottoms) - options.gap }
}

/**
 * Returns the size of a card in a column of width `w`, with its proportions. If it would be too high, a card with a
 * picture gets narrower, and another card keeps the column's width.
 */
function sizeAtWidth(card: LayoutCard, w: number): Size {
  if (!isUpright(card)) return fitInto(card, { w, h: Infinity })
  const h = (card.h * w) / card.w
  if (h > max)
    return { w: showsPicture(card) ? Math.max(min, Math.round((card.w * max) / card.h)) : w, h: max }
  return { w, h: Math.max(min, Math.round(h)) }
}
