/**
 * Glossary of the layouts. All layouts are pure functions: the same cards in the same order with the same options give
 * the same arrangement. It has whole canvas units and begins at 0, 0.
 *
 * - *outline*: the size of the bounding box of the rotated card. Layouts use it as the card's size.
 * - *slot*: the rectangle that a layout gives to a card. It contains the card's outline.
 * - *run*: cards that stay together: a single card, or the cards of a group.
 * - *heading*: a card with `section_header`. It has a separate row.
 * - *band*: a heading, or the runs between two headings.
 * - *block*: rows or columns that a layout computes together. Blocks are placed below each other.
 */
import type { Box, Rect, Size } from './box.ts'

/** The fields of a card that layouts use. Sizes are those of the unrotated card. */
export interface LayoutCard extends Size {
  id: string
  kind: string
  rotation: number
  section_header: boolean
  sub: string | null
  group_id: string | null
}

export interface LayoutOptions {
  gap: number
  /** Width of the block. Null: the default. For `row` and `column` the default is the width of their cards. */
  width: number | null
  rowHeight: number
  /** Most columns. Null: as many as fit. */
  columns: number | null
}

export type WideOptions = LayoutOptions & { width: number }

/** The width of six default cards with the gaps between them. */
export const defaultWidth = 1780
export const defaultOptions: LayoutOptions = { gap: 20, width: null, rowHeight: 180, columns: null }

/** A card's new place: top left corner and size of the unrotated card. */
export interface CardPlace extends Rect {
  id: string
}

export interface Arrangement {
  /** The places, in the order of the layout. */
  cards: CardPlace[]
  /** The box around all cards, both rotated and upright. */
  extent: Box
}

/** Rows or columns that a layout computed together. The block begins at 0, 0 and has the height `h`. */
export interface Block {
  places: CardPlace[]
  h: number
}
