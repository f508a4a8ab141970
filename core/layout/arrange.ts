/** Computes the places of cards on a board with a layout. */
import { limits } from '../limits.ts'
import { badRequest, ServiceError } from '../errors.ts'
import {
  defaultOptions,
  type Arrangement,
  type LayoutCard,
  type LayoutOptions,
  type CardPlace,
} from './arrangement.ts'
import { boundingBox, withinBoard, type Point, type Rect, type Rotated } from './box.ts'
import type { FreeSpace } from './free-space.ts'
import { besides, fitsBoard, inFreeSpace } from './place-block.ts'
import { readingOrder } from './reading-order.ts'
import { type LayoutName, solveLayout } from './solve.ts'

/**
 * Places new cards, in their order, as one block in free space.
 *
 * @throws ServiceError `bad_request` when the block is larger than a board
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
 * Arranges cards of the board in reading order. The block keeps its top left corner, unless it would overlap a card of
 * `rest`, the cards that stay in place.
 *
 * @throws ServiceError `bad_request` when the board has no room for the block
 */
export function arrangeAgain(
  layout: LayoutName,
  cards: readonly (LayoutCard & Point)[],
  rest: readonly Rotated[],
  options: LayoutOptions,
): CardPlace[] {
  const arrangement = solveLayout(layout, readingOrder(cards), options)
  const { extent } = arrangement
  if (!fitsBoard(extent)) throw tooLarge(layout)
  const start = topLeft(cards.map(boundingBox))
  const others = rest.map(boundingBox)
  const at = rest.length === 0 ? withinBoard(extent, start) : besides(others, extent, start, options.gap)
  if (!at) throw noRoom(extent.right - extent.left, extent.bottom - extent.top)
  return moved(arrangement, at)
}

/** The result of a worker thread. A refusal is part of it, because errors lose their class between threads. */
export type Planned<Places> = { places: Places } | { refused: string }

export function planned<Places>(plan: () => Places): Planned<Places> {
  try {
    return { places: plan() }
  } catch (error) {
    if (error instanceof ServiceError) return { refused: error.message }
    throw error
  }
}

/** `arrangeAgain` with one argument, for worker threads. */
export function planArrangement(input: {
  layout: LayoutName
  cards: (LayoutCard & Point)[]
  rest: Rotated[]
  options: LayoutOptions
}): Planned<CardPlace[]> {
  return planned(() => arrangeAgain(input.layout, input.cards, input.rest, input.options))
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
  badRequest(
    `layout: ${layout} of these cards is larger than a board (${(2 * limits.coordinate).toLocaleString('en')} units). Use fewer cards, another width or a smaller gap.`,
  )

const noRoom = (w: number, h: number) =>
  badRequest(
    `The board has no free place of ${w} by ${h} units for these cards. Use fewer cards or another width.`,
  )
