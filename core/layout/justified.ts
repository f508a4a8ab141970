/**
 * The layout `justified`: rows that fill the whole width. The cards of a row have one height, as near to the wanted row
 * height as the order of the cards allows. The last row keeps the wanted height, and so does the last row before a
 * heading or a large group.
 *
 * A row is complete when the next run no longer fits at the wanted height. It is made with or without that run,
 * whichever changes the height less. So the cost is linear.
 */
import { clamp } from '../card-values.ts'
import { limits } from '../limits.ts'
import type { Block, LayoutCard, CardPlace, WideOptions } from './arrangement.ts'
import { apart, stack, type Band } from './bands.ts'
import { fitInto, isUpright, outlineOf, scaleBounds, placeIn, showsPicture, slotFor } from './card-slot.ts'

/**
 * A card with the proportions of its slot. The width is `ratio` times the height; `least` and `most` limit the height.
 */
interface Item {
  card: LayoutCard
  ratio: number
  least: number
  most: number
}

interface Row {
  items: Item[]
  /** The height at which the row fills the width, or the nearest possible height. */
  height: number
  fit: 'flush' | 'too wide' | 'too narrow'
}

const { max } = limits.cardSize

export function justified(bands: Band[], options: WideOptions): CardPlace[] {
  return stack(bands, options, (runs) => {
    const { width, rowHeight, gap } = options
    const itemsOf = (run: LayoutCard[]) => run.map((card) => itemOf(card, width))
    const isLarge = (run: LayoutCard[]) => naturalWidth(itemsOf(run), rowHeight, gap) > width
    return apart(runs, isLarge).flatMap((part) => solveRows(part.map(itemsOf), options))
  })
}

function itemOf(card: LayoutCard, width: number): Item {
  const outline = outlineOf(card, card)
  const ratio = outline.w / outline.h
  const scale = scaleBounds(card)
  const margin = isUpright(card) ? 0 : 2 * Math.max(1, 1 / ratio) // for rounding the slot, and for the unit that slotFor adds
  const least = outline.h * scale.least + margin
  if (ratio * least <= width) return { card, ratio, least, most: Math.max(least, outline.h * scale.most) }
  // The card can't be as narrow as the block with its proportions. So it fills the block with other proportions.
  const { h } = slotFor(card, fitInto(card, { w: width, h: Infinity }))
  return { card, ratio: width / h, least: h, most: h }
}

const heightOf = ({ least, most }: Item, height: number) => clamp(height, least, most)
const widthOf = (item: Item, height: number) => item.ratio * heightOf(item, height)

function naturalWidth(items: Item[], height: number, gap: number): number {
  return items.reduce((sum, item) => sum + widthOf(item, height), gap * (items.length - 1))
}

function solveRows(runs: Item[][], options: WideOptions): Block[] {
  const { gap, width, rowHeight } = options
  const blocks: Block[] = []
  let open: Item[] = []
  let natural = -gap
  const take = (row: Row) => {
    blocks.push(placeRow(row, options))
    open = []
    natural = -gap
  }
  for (const run of runs) {
    const runWidth = naturalWidth(run, rowHeight, gap)
    if (natural + gap + runWidth >= width) {
      const longer = flush([...open, ...run], options)
      const shorter = open.length > 0 ? flush(open, options) : null
      if (!shorter || isBetter(longer, shorter, rowHeight)) {
        take(longer)
        continue
      }
      take(shorter)
      if (runWidth >= width) {
        take(flush(run, options))
        continue
      }
    }
    open.push(...run)
    natural += gap + runWidth
  }
  if (open.length > 0)
    blocks.push(placeRow({ items: open, height: rowHeight, fit: 'too narrow' }, options, true))
  return blocks
}

function isBetter(row: Row, other: Row, rowHeight: number): boolean {
  if (row.fit !== 'flush') return false
  if (other.fit !== 'flush') return true
  const change = ({ height }: Row) => Math.abs(Math.log(height / rowHeight))
  return change(row) <= change(other)
}

/**
 * Returns the row with the height at which the items fill the width. Their widths grow with the height, within limits.
 */
function flush(items: Item[], { width, gap }: WideOptions): Row {
  const room = width - gap * (items.length - 1)
  const ratios = items.reduce((sum, { ratio }) => sum + ratio, 0)
  let low = items.reduce((least, item) => Math.min(least, item.least), Infinity)
  let high = items.reduce((most, item) => Math.max(most, item.most), 0)
  const widthAt = (height: number) => items.reduce((sum, item) => sum + widthOf(item, height), 0)
  if (widthAt(low) > room + slack) return { items, height: low, fit: 'too wide' }
  if (widthAt(high) < room - slack) return { items, height: high, fit: 'too narrow' }
  const simple = room / ratios
  if (items.every((item) => item.least <= simple && simple <= item.most))
    return { items, height: simple, fit: 'flush' }
  for (let step = 0; step < 60 && high - low > 1e-9; step++) {
    const middle = (low + high) / 2
    if (widthAt(middle) < room) low = middle
    else high = middle
  }
  return { items, height: high, fit: 'flush' }
}
const slack = 1e-6

/**
 * Places the cards of a row. Rounds edges instead of widths, so that gaps keep their size and the row fills the width.
 */
function placeRow({ items, height, fit }: Row, { width, gap }: WideOptions, isLast = false): Block {
  const widths = items.map((item) => widthOf(item, height))
  if (fit === 'too narrow' && !isLast) widen(items, widths, width - gap * (items.length - 1))
  const places: CardPlace[] = []
  let edge = 0
  let h = 0
  items.forEach((item, at) => {
    const left = Math.round(edge)
    const right = Math.round(onGrid(edge + widths[at]!))
    const slot = { x: left, y: 0, w: right - left, h: Math.round(onGrid(heightOf(item, height))) }
    places.push(placeIn(item.card, isUpright(item.card) ? slot : fitInto(item.card, slot), slot))
    edge = onGrid(edge + widths[at]! + gap)
    h = Math.max(h, slot.h)
  })
  return { places, h }
}

/** Removes rounding errors of sums, so that a sum that should be half a unit is rounded as such. */
const onGrid = (value: number) => Math.round(value * 1e6) / 1e6

/** Widens cards without a picture in a row that can't fill the width with all proportions kept. */
function widen(items: Item[], widths: number[], room: number): void {
  const flexible = items
    .map((item, at) => ({ item, at }))
    .filter(({ item }) => isUpright(item.card) && !showsPicture(item.card))
  let spare = room - widths.reduce((sum, width) => sum + width, 0)
  flexible.sort((a, b) => widths[b.at]! - widths[a.at]!)
  flexible.forEach(({ at }, n) => {
    const share = Math.min(max - widths[at]!, spare / (flexible.length - n))
    widths[at]! += share
    spare -= share
  })
}
