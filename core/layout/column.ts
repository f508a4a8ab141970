/** The layout `column`: cards below each other, in their own sizes. Headings are as wide as the column. */
import type { LayoutOptions, CardPlace } from './arrangement.ts'
import { headingSize, type Band } from './bands.ts'
import { ownSize, placeIn, slotFor } from './card-slot.ts'
import { longestLine } from './row.ts'

export function column(bands: Band[], { gap, width }: LayoutOptions): CardPlace[] {
  const cards = bands.flatMap((band) => ('runs' in band ? band.runs.flat() : [band.heading]))
  const own = cards.map((card) => slotFor(card, ownSize(card)).w)
  const isHeading = bands.flatMap((band) => ('runs' in band ? band.runs.flat().map(() => false) : [true]))
  const widest = own.reduce((most, w, at) => (isHeading[at] ? most : Math.max(most, w)), 0)
  const columnWidth = width ?? (widest || Math.max(0, ...own))
  const places: CardPlace[] = []
  let [x, y, w] = [0, 0, 0]
  cards.forEach((card, at) => {
    const size = isHeading[at] ? headingSize(card, columnWidth) : ownSize(card)
    const slot = slotFor(card, size)
    if (y > 0 && y + slot.h > longestLine) [x, y, w] = [x + w + gap, 0, 0] // a longer column continues in another column beside it
    places.push(placeIn(card, size, { x, y, ...slot }))
    y += slot.h + gap
    w = Math.max(w, slot.w)
  })
  return places
}
