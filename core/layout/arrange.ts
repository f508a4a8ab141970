/** Cards of a board → their new places on it. */
import { limits } from '../limits.ts'
import { ServiceError } from '../errors.ts'
import {
  defaultOptions,
  type Arrangement,
  type LayoutCard,
  type LayoutName,
  type LayoutOptions,
  type CardPlace,
} from './arrangement.ts'
import { boundingBox, type Rect } from './box.ts'
import type { FreeSpace } from './free-space.ts'
import { besides, fitsBoard, inFreeSpace, withinBoard, type Point } from './place-block.ts'
import { readingOrder } from './reading-order.ts'
import { solveLayout } from './solve.ts'

/**
 * New cards in their order, as one block in free space.
 *
 * @throws ServiceError `bad_request` when they are more than a board has room for
 */
export function arrangeNew(
  layout: LayoutName,
  cards: readonly LayoutCard[],
  space: FreeSpace,
): Map<string, Omit<CardPlace, 'id'>> {
  const arrangement = solveLayout(layout, cards, defaultOptions)
  if (!fitsBoard(arrangement.extent)) throw tooLarge(layout)
  const at = inFreeSpace(space, arrangement.extent)
  return new Map(moved(arrangement, at).map(({ id, ...place }) => [id, place]))
}

/**
 * Cards that are on the board, in the order in which they are read. They begin where they began; with others left as they
 * are, the `rest`, they land on none of these.
 *
 * @throws ServiceError `bad_request` when the board has no room for that
 */
export function arrangeAgain(
  layout: LayoutName,
  cards: readonly (LayoutCard & { x: number; y: number })[],
  rest: readonly (Rect & { rotation: number })[],
  options: LayoutOptions,
): CardPlace[] {
  const arrangement = solveLayout(layout, readingOrder(cards), options)
  const { extent } = arrangement
  if (!fitsBoard(extent)) throw tooLarge(layout)
  const start = topLeft(cards.map(boundingBox))
  const at = rest.length === 0 ? withinBoard(extent, start) : besides(rest.map(boundingBox), extent, start, options.gap) // prettier-ignore
  if (!at) throw noRoom(extent.right - extent.left, extent.bottom - extent.top)
  return moved(arrangement, at)
}

/** `arrangeAgain`, with its input as one value. What it would throw is in the result: errors lose their class on the way. */
export function planArrangement(input: {
  layout: LayoutName
  cards: (LayoutCard & { x: number; y: number })[]
  rest: (Rect & { rotation: number })[]
  options: LayoutOptions
}): { places: CardPlace[] } | { refused: string } {
  try {
    return { places: arrangeAgain(input.layout, input.cards, input.rest, input.options) }
  } catch (error) {
    if (error instanceof ServiceError) return { refused: error.message }
    throw error
  }
}

function moved({ cards }: Arrangement, { x, y }: Point): CardPlace[] {
  return cards.map((place) => ({ ...place, x: place.x + x, y: place.y + y }))
}

function topLeft(rects: readonly Rect[]): Point {
  const least = (values: number[]) => Math.round(values.reduce((a, b) => Math.min(a, b), Infinity))
  return rects.length === 0
    ? { x: 0, y: 0 }
    : { x: least(rects.map(({ x }) => x)), y: least(rects.map(({ y }) => y)) }
}

const tooLarge = (layout: LayoutName) =>
  new ServiceError(
    'bad_request',
    `layout ${layout} of these cards is larger than a board, ${(2 * limits.coordinate).toLocaleString('en')} units; take fewer cards, another width or a smaller gap.`,
  )

const noRoom = (w: number, h: number) =>
  new ServiceError(
    'bad_request',
    `The board has no free place of ${w} by ${h} units for these cards; take fewer cards or another width.`,
  )
