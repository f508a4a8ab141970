/** The layout `row`: cards side by side, in their own sizes. Headings separate rows. */
import type { Block, LayoutOptions, CardPlace } from './arrangement.ts'
import { stack, type Band, type Run } from './bands.ts'
import { ownSize, placeIn, slotFor } from './card-slot.ts'

/** Longest row or column, half of a board. Longer ones continue in another row or column. */
export const longestLine = 1_000_000

export function row(bands: Band[], { gap, width }: LayoutOptions): CardPlace[] {
  const lines = new Map(
    bands.flatMap((band) => ('runs' in band ? [[band.runs, linesOf(band.runs, gap)]] : [])),
  )
  const widest = [...lines.values()].flat().reduce((most, line) => Math.max(most, line.w), 0)
  return stack(bands, { gap, width: width ?? widest }, (runs) => lines.get(runs)!)
}

function linesOf(runs: Run[], gap: number): (Block & { w: number })[] {
  const lines: (Block & { w: number })[] = []
  for (const card of runs.flat()) {
    const size = ownSize(card)
    const slot = slotFor(card, size)
    let line = lines.at(-1)
    if (!line || line.w + gap + slot.w > longestLine) lines.push((line = { places: [], h: 0, w: -gap }))
    line.places.push(placeIn(card, size, { x: line.w + gap, y: 0, ...slot }))
    line.w += gap + slot.w
    line.h = Math.max(line.h, slot.h)
  }
  return lines
}
