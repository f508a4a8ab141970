/** New cards of a board → their places on it. */
import { ServiceError } from '../errors.ts'
import { arrangeNew } from './arrange.ts'
import type { LayoutCard, LayoutName, CardPlace } from './arrangement.ts'
import { FreeSpace, boundingBox, type Rect } from './free-space.ts'

export interface NewCards {
  /** All of them are arranged as one block. Without it, each that lacks a coordinate goes to free space, in their order. */
  layout: LayoutName | undefined
  cards: (LayoutCard & { x?: number | undefined; y?: number | undefined })[]
  /** What lies on the board. */
  occupied: (Rect & { rotation: number })[]
}

export type Places = Map<string, Partial<CardPlace> & { x: number; y: number }>

/** The places that are not given. What a layout refuses is in the result: errors lose their class on the way from a thread. */
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
  // Cards whose place is given keep it, so the others have to know of it first.
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
