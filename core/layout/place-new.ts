/** Computes the places of new cards on a board. */
import { arrangeNew, planned, type Planned } from './arrange.ts'
import type { LayoutCard, CardPlace } from './arrangement.ts'
import type { LayoutName } from './solve.ts'
import { boundingBox, type Point, type Rotated } from './box.ts'
import { FreeSpace } from './free-space.ts'

export interface NewCards {
  /**
   * With a layout, all cards form one block. Without, each card that lacks a coordinate is placed in free space, in
   * order.
   */
  layout: LayoutName | undefined
  /** With a layout: cards with both coordinates keep them, and the others form the block. */
  keepsPlaced?: boolean | undefined
  cards: (LayoutCard & { x?: number | undefined; y?: number | undefined })[]
  occupied: Rotated[]
}

export type Places = Map<string, Partial<CardPlace> & Point>

/** Returns the places of the cards that do not keep theirs. */
export function placeNew({ layout, keepsPlaced = !layout, cards, occupied }: NewCards): Planned<Places> {
  const space = new FreeSpace()
  for (const rect of occupied) space.occupy(boundingBox(rect))
  // Places that cards keep are occupied before the others are placed.
  const open: typeof cards = []
  for (const card of cards) {
    const { x, y } = card
    if (keepsPlaced && x !== undefined && y !== undefined) space.occupy(boundingBox({ ...card, x, y }))
    else open.push(card)
  }
  if (layout) return planned(() => arrangeNew(layout, open, space))
  return {
    places: new Map(open.map(({ id, w, h, rotation, x, y }) => [id, space.place({ w, h, rotation, x, y })])),
  }
}
