import {
  defaultWidth,
  type Arrangement,
  type LayoutCard,
  type LayoutOptions,
  type CardPlace,
} from './arrangement.ts'
import { bandsOf, type Band } from './bands.ts'
import { boundingBox, boxAround, union, type Box } from './box.ts'
import { column } from './column.ts'
import { grid } from './grid.ts'
import { justified } from './justified.ts'
import { masonry } from './masonry.ts'
import { row } from './row.ts'

type Solver = (bands: Band[], options: LayoutOptions) => CardPlace[]

/** The layouts. The schemas of the API and of the tools list them in this order. */
const solvers = {
  justified: (bands, options) => justified(bands, withWidth(options)),
  masonry: (bands, options) => masonry(bands, withWidth(options)),
  grid: (bands, options) => grid(bands, withWidth(options)),
  row,
  column,
} satisfies Record<string, Solver>

export type LayoutName = keyof typeof solvers
export const layoutNames = Object.keys(solvers) as LayoutName[]

/**
 * Lays out cards in the given order. The cards of a group follow its first card. Sizes of cards are 40 to 4,000.
 * Options are whole numbers: `gap` from 0, `width` from 100, `rowHeight` 40 to 4,000, `columns` from 1. A layout
 * ignores options that it does not use.
 */
export function solveLayout(
  layout: LayoutName,
  cards: readonly LayoutCard[],
  options: LayoutOptions,
): Arrangement {
  const places = solvers[layout](bandsOf(cards), options)
  const rotations = new Map(cards.map(({ id, rotation }) => [id, rotation]))
  const extent = places.reduce<Box | null>((all, one) => {
    const upright = boxAround(one, 0)
    const rotation = rotations.get(one.id)!
    const box =
      rotation % 180 === 0 ? upright : union(upright, boxAround(boundingBox({ ...one, rotation }), 0))
    return all ? union(all, box) : box
  }, null)
  return { cards: places, extent: extent ?? { left: 0, top: 0, right: 0, bottom: 0 } }
}

const withWidth = (options: LayoutOptions) => ({ ...options, width: options.width ?? defaultWidth })
