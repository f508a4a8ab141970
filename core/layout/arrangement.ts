/**
 * Glossary of the layouts. All of them are pure: the same cards in the same order with the same options give the same
 * arrangement, in whole canvas units, from 0, 0 on.
 *
 * - *outline*: the size of the bounding box of a card's rotation; layouts go by it.
 * - *slot*: the rectangle that a layout gives to a card; the card's outline lies in it.
 * - *run*: cards that stay together: a single one, or those of a group.
 * - *heading*: a card with `section_header`: it has a row of its own.
 * - *band*: a heading, or the runs between two headings.
 * - *block*: rows or columns that a layout solved together; blocks lie below each other.
 */
import type { Box } from './box.ts'

export const layoutNames = ['justified', 'masonry', 'grid', 'row', 'column'] as const
export type LayoutName = (typeof layoutNames)[number]

/** What the layouts look at; sizes are those of the unrotated card. */
export interface LayoutCard {
  id: string
  kind: string
  w: number
  h: number
  rotation: number
  section_header: boolean
  sub: string | null
  group_id: string | null
}

export interface LayoutOptions {
  gap: number
  /** Of the block. Null: the default, which for rows and columns is what their cards need. */
  width: number | null
  rowHeight: number
  /** At most so many columns; null: as many as fit. */
  columns: number | null
}

/** Six cards of the default width and the gaps between them; rows of the default height. */
export const defaultWidth = 1780
export const defaultOptions: LayoutOptions = { gap: 20, width: null, rowHeight: 180, columns: null }

export interface Size {
  w: number
  h: number
}

/** A card's new place: top left corner and size of the unrotated card. */
export interface CardPlace {
  id: string
  x: number
  y: number
  w: number
  h: number
}

export interface Arrangement {
  /** In the order of the layout. */
  cards: CardPlace[]
  /** All that the cards take up, turned as they are and upright. */
  extent: Box
}

/** Rows or columns that were solved together: from 0, 0 to `h`. */
export interface Block {
  places: CardPlace[]
  h: number
}
