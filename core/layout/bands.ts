/** Functions that all layouts share: they keep groups together, give headings separate rows, and stack blocks. */
import type { Block, LayoutCard, CardPlace } from './arrangement.ts'
import type { Size } from './box.ts'
import { clampSide, isUpright, ownSize, placeIn, slotFor } from './card-slot.ts'
import { limits } from '../limits.ts'

export type Run = LayoutCard[]
export type Band = { heading: LayoutCard } | { runs: Run[] }

/**
 * Splits cards into bands, in order. A group is placed where its first card is. A group with a heading has its own
 * bands.
 */
export function bandsOf(cards: readonly LayoutCard[]): Band[] {
  const groups = Map.groupBy(cards, ({ group_id }) => group_id)
  const bands: Band[] = []
  let open: Run[] = []
  const close = () => {
    if (open.length > 0) bands.push({ runs: open })
    open = []
  }
  /** Adds the cards between headings as runs. */
  const add = (members: readonly LayoutCard[]) => {
    let part: Run = []
    for (const member of members) {
      if (!member.section_header) {
        if (part.length === 0) open.push(part)
        part.push(member)
        continue
      }
      close()
      part = []
      bands.push({ heading: member })
    }
  }
  for (const card of cards) {
    const group = card.group_id === null ? [card] : groups.get(card.group_id)!
    if (group[0] !== card) continue
    const hasHeading = group.some((member) => member.section_header)
    if (hasHeading) close()
    add(group)
    if (hasHeading) close()
  }
  close()
  return bands
}

/** Splits runs into parts that are laid out separately. A group that is too large for a row is a part of its own. */
export function apart(runs: readonly Run[], isLarge: (run: Run) => boolean): Run[][] {
  const parts: Run[][] = []
  let open: Run[] = []
  for (const run of runs) {
    if (run.length > 1 && isLarge(run)) {
      parts.push(run.map((card) => [card]))
      open = []
      continue
    }
    if (open.length === 0) parts.push(open)
    open.push(run)
  }
  return parts
}

/**
 * Returns the size of a heading: as wide as the block, and at least high enough for `sub`. A rotated card keeps its
 * size.
 */
export function headingSize(card: LayoutCard, width: number): Size {
  const own = ownSize(card)
  if (!isUpright(card)) return own
  return { w: clampSide(width), h: Math.max(own.h, card.sub === null ? limits.cardSize.min : twoLines) }
}
const twoLines = 64

/** Lays out the bands one by one and places them below each other. */
export function stack(
  bands: readonly Band[],
  { gap, width }: { gap: number; width: number },
  solve: (runs: Run[]) => Block[],
): CardPlace[] {
  const places: CardPlace[] = []
  let y = 0
  for (const band of bands) {
    if ('heading' in band) {
      const size = headingSize(band.heading, width)
      const slot = slotFor(band.heading, size)
      places.push(placeIn(band.heading, size, { x: 0, y, ...slot }))
      y += slot.h + gap
      continue
    }
    for (const block of solve(band.runs)) {
      for (const one of block.places) places.push({ ...one, y: one.y + y })
      y += block.h + gap
    }
  }
  return places
}
