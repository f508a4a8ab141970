/** Computes the places of new cards on a board. */
import { ServiceError } from '../errors.ts'
import { arrangeNew } from './arrange.ts'
import type { LayoutCard, LayoutName, CardPlace } from './arrangement.ts'
import { FreeSpace, boundingBox, type Rect } from './free-space.ts'

export interface NewCards {
  /**
   * With a layout, all cards form one block. Without, each card that lacks a coordinate is placed in free space, in
   * order.
   */
  layout: LayoutName | undefined
  cards: (LayoutCard & { x?: number | undefined; y?: number | undefined })[]
  /** The existing cards of the board. */
  occupied: (Rect & { rotation: number })[]
}

export type Places = Map<string, Partial<CardPlace> & { x: number; y: number }>

/**
 * Returns the places of cards that lack a coordinate. A refusal is part of the result, because errors lose their class
 * between threads.
 */
export function placeNew({ layout, cards, occupied }: NewCards): { places: Places } | { refused: string } {
  const space = new FreeSpace()
  for (const rect of occupied) space.occupy(boundingBox(rect))
  if (layout) {
    try {
      return { places: arrangeNew(layout, cards, space) }
    } catch (error) {
      if (error instanceof ServiceError) return { refused: error.message }
      throw error
    }
  }
  // Cards with a given place keep it, so they are occupied before the others are placed.
  const open: typeof cards = []
  for (const card of cards) {
    const { x, y } = card
    if (x !== undefined && y !== undefined) space.occupy(boundingBox({ ...card, x, y }))
    else open.push(card)
  }
  return {
    places: new Map(open.map(({ id, w, h, rotation, x, y }) => [id, space.place({ w, h, rotation, x, y })])),
  }
}
