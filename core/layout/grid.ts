/**
 * The layout `grid`: cells of one size, row by row. A card fills its cell. Cards with a picture and rotated cards keep
 * their proportions. If a group does not fit into the rest of a row, it begins a new row.
 */
import type { Block, LayoutCard, CardPlace, WideOptions } from './arrangement.ts'
import type { Size } from './box.ts'
import { apart, stack, type Band, type Run } from './bands.ts'
import { fitInto, isUpright, outlineOf, placeIn, showsPicture, slotFor } from './card-slot.ts'
import { columnsOf } from './masonry.ts'

export function grid(bands: Band[], options: WideOptions): CardPlace[] {
  const { count, w } = columnsOf(options)
  const cards = bands.flatMap((band) => ('runs' in band ? band.runs.flat() : []))
  const cell = { w, h: cellHeight(cards, w) }
  return stack(bands, options, (runs) =>
    apart(runs, (run) => run.length > count).map((part) => solveCells(part, cell, count, options.gap)),
  )
}

/** Returns the height of cells: the median of the cards' proportions, limited to between 1:2 and 2:1. */
function cellHeight(cards: LayoutCard[], w: number): number {
  const ratios = cards.map((card) => outlineOf(card, card)).map((outline) => outline.w / outline.h)
  ratios.sort((a, b) => a - b)
  const ratio = Math.min(2, Math.max(0.5, ratios[Math.floor(ratios.length / 2)] ?? 1))
  return Math.min(4000, Math.max(60, Math.round(w / ratio)))
}

function solveCells(runs: Run[], cell: Size, count: number, gap: number): Block {
  const places: CardPlace[] = []
  let at = 0
  for (const run of runs) {
    const left = count - (at % count)
    if (run.length > left) at += left
    for (const card of run) {
      const x = (at % count) * (cell.w + gap)
      const y = Math.floor(at / count) * (cell.h + gap)
      const size = isUpright(card) && !showsPicture(card) ? cell : fitInto(card, cell)
      places.push(placeIn(card, size, { x, y, ...slotFor(card, size) }))
      at += 1
    }
  }
  return { places, h: Math.ceil(at / count) * (cell.h + gap) - gap }
}
