import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  defaultOptions,
  layoutNames,
  type LayoutCard,
  type LayoutName,
  type LayoutOptions,
  type Seat,
} from '../../core/layout/arrangement.ts'
import { boundingBox, type Rect } from '../../core/layout/box.ts'
import { besides, fitsBoard, withinBoard } from '../../core/layout/place-block.ts'
import { readingOrder } from '../../core/layout/reading-order.ts'
import { solveLayout } from '../../core/layout/solve.ts'

const plain = { kind: 'note', rotation: 0, section_header: false, sub: null, group_id: null }
const named = (cards: Partial<LayoutCard>[]): LayoutCard[] =>
  cards.map((card, n) => ({ ...plain, id: `c${n}`, w: 280, h: 180, ...card }))
const times = (count: number, card: Partial<LayoutCard> = {}) =>
  named(Array.from({ length: count }, () => card))

const side = fc.oneof(
  fc.integer({ min: 40, max: 4000 }),
  fc.integer({ min: 40, max: 400 }),
  fc.double({ min: 40, max: 4000, noNaN: true }),
)
const kind = fc.constantFrom('note', 'image', 'link', 'video', 'palette')
const rotation = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  fc.constantFrom(90, -90, 180, 45),
  fc.double({ min: -180, max: 180, noNaN: true }),
)
const anyCard = fc.record({
  kind,
  w: side,
  h: side,
  rotation,
  section_header: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  sub: fc.constantFrom(null, 'under it'),
  group_id: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom('a', 'b', 'c')),
})
const usualCard = fc.record({
  kind,
  w: fc.integer({ min: 100, max: 400 }),
  h: fc.integer({ min: 100, max: 400 }),
})
const anyOptions = fc.record({
  gap: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 1000 })),
  width: fc.oneof(
    fc.constant(null),
    fc.integer({ min: 100, max: 5000 }),
    fc.integer({ min: 100, max: 100_000 }),
  ),
  rowHeight: fc.oneof(fc.integer({ min: 40, max: 400 }), fc.integer({ min: 40, max: 4000 })),
  columns: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 100 })),
})
const usualOptions = fc.record({
  gap: fc.integer({ min: 0, max: 60 }),
  width: fc.integer({ min: 600, max: 3000 }),
  rowHeight: fc.integer({ min: 80, max: 400 }),
  columns: fc.constant(null),
})
const anyLayout = fc.constantFrom(...layoutNames)
const anyCards = fc.array(anyCard, { maxLength: 60, size: 'max' }).map(named)

const solve = (layout: LayoutName, cards: LayoutCard[], options: Partial<LayoutOptions> = {}) =>
  solveLayout(layout, cards, { ...defaultOptions, ...options })
const byId = (cards: LayoutCard[]) => new Map(cards.map((card) => [card.id, card]))
const boxes = (cards: LayoutCard[], seats: Seat[]): (Rect & { id: string })[] =>
  seats.map((seat) => ({
    id: seat.id,
    ...boundingBox({ ...seat, rotation: byId(cards).get(seat.id)!.rotation }),
  }))

/** Pairs that are nearer to each other than the gap, on both axes. */
function tooNear(rects: (Rect & { id: string })[], gap: number): string[] {
  const least = gap - 1e-5
  return rects.flatMap((a, at) =>
    rects
      .slice(at + 1)
      .filter((b) => Math.max(b.x - a.x - a.w, a.x - b.x - b.w, b.y - a.y - a.h, a.y - b.y - b.h) < least)
      .map((b) => `${JSON.stringify(a)} ${JSON.stringify(b)}`),
  )
}

/** Seats that follow each other and lie on one line. */
function rowsOf(seats: Seat[]): Seat[][] {
  const rows: Seat[][] = []
  for (const seat of seats) {
    const row = rows.at(-1)
    if (row && row[0]!.y === seat.y && row.at(-1)!.x < seat.x) row.push(seat)
    else rows.push([seat])
  }
  return rows
}

/** Whether whole sizes can come from these proportions by rounding. */
function keepsRatio(card: { w: number; h: number }, { w, h }: { w: number; h: number }): boolean {
  const ratio = card.w / card.h
  return (w + 1) / (h - 1) >= ratio - 1e-9 && (w - 1) / (h + 1) <= ratio + 1e-9
}

describe('of every layout', () => {
  test('[Z1] no two cards overlap or lie nearer than the gap, turned ones by their bounding boxes', () => {
    fc.assert(
      fc.property(anyLayout, anyCards, anyOptions, (layout, cards, options) => {
        const { cards: seats } = solve(layout, cards, options)
        expect(tooNear(boxes(cards, seats), options.gap)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  test('[Z2] every card is there once, in the given order but for groups, whose cards follow the first of them', () => {
    fc.assert(
      fc.property(anyLayout, anyCards, anyOptions, (layout, cards, options) => {
        const expected: string[] = []
        for (const { id, group_id } of cards) {
          if (expected.includes(id)) continue
          if (group_id === null) expected.push(id)
          else expected.push(...cards.filter((other) => other.group_id === group_id).map((other) => other.id))
        }
        expect(solve(layout, cards, options).cards.map(({ id }) => id)).toEqual(expected)
      }),
    )
  })

  test('[Z3] places and sizes are whole numbers, and sizes lie within 40 and 4,000', () => {
    fc.assert(
      fc.property(anyLayout, anyCards, anyOptions, (layout, cards, options) => {
        const { cards: seats, extent } = solve(layout, cards, options)
        for (const { x, y, w, h } of seats) {
          expect([x, y, w, h].every((one) => Number.isInteger(one) && !Object.is(one, -0))).toBe(true)
          expect(Math.min(w, h)).toBeGreaterThanOrEqual(40)
          expect(Math.max(w, h)).toBeLessThanOrEqual(4000)
          expect(x >= extent.left && y >= extent.top && x + w <= extent.right && y + h <= extent.bottom).toBe(
            true,
          )
        }
      }),
      { numRuns: 300 },
    )
  })

  test('[Z4] the same cards with the same options give the same arrangement, and are not changed', () => {
    fc.assert(
      fc.property(anyLayout, anyCards, anyOptions, (layout, cards, options) => {
        const before = structuredClone(cards)
        const first = solve(layout, cards, options)
        expect(solve(layout, structuredClone(cards), { ...options })).toEqual(first)
        expect(cards).toEqual(before)
      }),
    )
  })

  test('[Z5] the rectangle around a group holds no card that is not of it', () => {
    const cards = fc.array(anyCard.map((card) => ({ ...card, w: Math.min(card.w, 800), h: Math.min(card.h, 800) })), { maxLength: 60, size: 'max' }).map(named)
    fc.assert(
      fc.property(anyLayout, cards, anyOptions, (layout, cards, options) => {
        const all = boxes(cards, solve(layout, cards, options).cards)
        for (const group of ['a', 'b', 'c']) {
          const [own, others] = [true, false].map((is) => all.filter(({ id }) => (byId(cards).get(id)!.group_id === group) === is))
          if (own!.length === 0) continue
          const [left, top] = [Math.min(...own!.map(({ x }) => x)), Math.min(...own!.map(({ y }) => y))]
          const [right, bottom] = [Math.max(...own!.map(({ x, w }) => x + w)), Math.max(...own!.map(({ y, h }) => y + h))]
          const around = { id: group, x: left, y: top, w: right - left, h: bottom - top }
          expect(others!.flatMap((other) => tooNear([around, other], 0))).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  }) // prettier-ignore

  test('[Z6] a heading has a row of its own, as wide as the block; what comes before it lies above, what follows below', () => {
    const upright = fc.array(anyCard.map((card) => ({ ...card, rotation: 0, group_id: null })), { maxLength: 40, size: 'max' }).map(named)
    fc.assert(
      fc.property(anyLayout, upright, anyOptions, (layout, cards, options) => {
        const { cards: seats } = solve(layout, cards, options)
        seats.forEach((heading, at) => {
          const card = byId(cards).get(heading.id)!
          if (!card.section_header) return
          for (const other of seats.slice(0, at)) expect(other.y + other.h + options.gap).toBeLessThanOrEqual(heading.y)
          for (const other of seats.slice(at + 1)) expect(other.y).toBeGreaterThanOrEqual(heading.y + heading.h + options.gap)
          expect(heading.x).toBe(0)
          const width = options.width ?? (layout === 'row' || layout === 'column' ? null : 1780)
          if (width !== null) expect(heading.w).toBe(Math.min(4000, width))
          expect(heading.h).toBe(Math.max(Math.round(card.h), card.sub === null ? 40 : 64))
        })
      }),
    )
    const widest = solve('row', named([{ section_header: true }, { w: 700 }, { w: 500 }, { section_header: true }, {}])).cards
    expect(widest.map(({ w }) => w)).toEqual([1220, 700, 500, 1220, 280])
  }) // prettier-ignore

  test('[Z7] no cards make no arrangement', () => {
    for (const layout of layoutNames)
      expect(solve(layout, [])).toEqual({ cards: [], extent: { left: 0, top: 0, right: 0, bottom: 0 } })
  })

  test('[Z8] what is arranged again in its reading order stays where it is', () => {
    const some = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    const stable = fc.constantFrom(...layoutNames.filter((layout) => layout !== 'justified'))
    const claim = fc.property(stable, some, usualOptions, (layout, cards, options) => {
      const first = solve(layout, cards, options).cards
      const again = readingOrder(first.map((seat) => ({ ...byId(cards).get(seat.id)!, ...seat })))
      expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
      expect(solve(layout, again, options).cards).toEqual(first)
    })
    const narrow = { gap: 1, width: 600, rowHeight: 200, columns: null }
    fc.assert(claim, {
      numRuns: 300,
      examples: [['grid', named([{ kind: 'video', w: 397, h: 205 }]), narrow]],
    })
    const notes = solve('justified', times(20)).cards
    expect(solve('justified', named(notes)).cards).toEqual(notes)
  })
})

describe('justified', () => {
  test('[Z10] every row but the last is flush on both edges, and gaps are exact', () => {
    fc.assert(
      fc.property(fc.array(usualCard, { minLength: 1, maxLength: 80, size: 'max' }).map(named), usualOptions, (cards, options) => {
        const rows = rowsOf(solve('justified', cards, options).cards)
        rows.forEach((row, n) => {
          expect(row[0]!.x).toBe(0)
          row.slice(1).forEach((seat, at) => expect(seat.x - row[at]!.x - row[at]!.w).toBe(options.gap))
          const right = row.at(-1)!.x + row.at(-1)!.w
          if (n < rows.length - 1) expect(Math.abs(right - options.width)).toBeLessThanOrEqual(1)
          else expect(right).toBeLessThanOrEqual(options.width + 1)
          if (n > 0) expect(row[0]!.y - Math.max(...rows[n - 1]!.map(({ y, h }) => y + h))).toBe(options.gap)
        })
      }),
      { numRuns: 400 },
    )
  }) // prettier-ignore

  test('[Z10] also of cards of any proportions, with any gap, where they may be stretched', () => {
    const cards = fc
      .array(fc.record({ w: side, h: side }), { minLength: 1, maxLength: 60, size: 'max' })
      .map(named)
    const options = anyOptions.map((some) => ({ ...some, width: 100 + ((some.width ?? 1780) % 3900) }))
    fc.assert(
      fc.property(cards, options, (cards, options) => {
        const rows = rowsOf(solve('justified', cards, options).cards)
        for (const row of rows.slice(0, -1))
          expect(Math.abs(row.at(-1)!.x + row.at(-1)!.w - options.width)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 400 },
    )
  })

  test('[Z11] the last row keeps the row height, unless it has to shrink to fit', () => {
    fc.assert(
      fc.property(fc.array(usualCard, { minLength: 1, maxLength: 40, size: 'max' }).map(named), usualOptions, (cards, options) => {
        const wide = { ...options, width: 100_000 }
        const seats = solve('justified', cards, wide).cards
        expect(rowsOf(seats)).toHaveLength(1)
        for (const { id, h } of seats) {
          const card = byId(cards).get(id)!
          const least = Math.round((40 * card.h) / Math.min(card.w, card.h)) // as high as it is when it is as thin as may be
          expect(h).toBe(Math.max(options.rowHeight, least))
        }
      }),
    )
    const rows = rowsOf(solve('justified', times(8), { rowHeight: 200 }).cards)
    expect(rows.map((row) => row.length)).toEqual([5, 3])
    expect(rows.map((row) => row[0]!.h)).toEqual([219, 200])
    const before = solve('justified', named([{}, { section_header: true }, {}])).cards
    expect(before.map(({ w, h }) => [w, h])).toEqual([[280, 180], [1780, 180], [280, 180]])
  }) // prettier-ignore

  test('[Z12] pictures keep their proportions, whatever they are, where they fit the block at all', () => {
    const pictures = fc.array(fc.record({ kind: fc.constantFrom('image', 'video', 'note'), w: side, h: side }), { maxLength: 60, size: 'max' }).map(named)
    fc.assert(
      fc.property(pictures, anyOptions, (cards, options) => {
        for (const seat of solve('justified', cards, options).cards) {
          const card = byId(cards).get(seat.id)!
          if (card.kind === 'note' || (40 * card.w) / card.h > (options.width ?? 1780)) continue
          expect(keepsRatio(card, seat), JSON.stringify([card, seat])).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  }) // prettier-ignore

  test('[Z12] so do all other cards, where that leaves the rows flush', () => {
    fc.assert(
      fc.property(
        fc.array(usualCard, { maxLength: 60, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          for (const seat of solve('justified', cards, options).cards)
            expect(keepsRatio(byId(cards).get(seat.id)!, seat)).toBe(true)
        },
      ),
    )
  })

  test('[Z13] a group that fits stays within a row among others; a larger one has rows of its own', () => {
    const small = solve(
      'justified',
      named([{}, {}, { group_id: 'a' }, { group_id: 'a' }, {}, {}, {}, {}]),
    ).cards
    expect(rowsOf(small).map((row) => row.length)).toEqual([6, 2])
    const large = [{}, {}, ...Array.from({ length: 9 }, () => ({ group_id: 'a' })), {}]
    expect(rowsOf(solve('justified', named(large)).cards).map((row) => row.length)).toEqual([2, 6, 3, 1])
  })

  test('[Z14] a turned card fills its slot by its bounding box, with its proportions', () => {
    const [turned, next] = solve('justified', named([{ kind: 'image', w: 400, h: 200, rotation: 90 }, {}]), { rowHeight: 400 }).cards
    expect(keepsRatio({ w: 400, h: 200 }, turned!)).toBe(true)
    const { x, y, w, h } = boundingBox({ ...turned!, rotation: 90 })
    for (const [is, should] of [[x, 0], [y, 0], [w, 200], [h, 400]] as const) expect(Math.abs(is - should)).toBeLessThanOrEqual(2)
    expect(Math.abs(next!.x - 220)).toBeLessThanOrEqual(1)
  }) // prettier-ignore
})

describe('masonry, grid, row, column', () => {
  test('[Z15] columns of masonry have one width and exact gaps, as many as fit and at most `columns`', () => {
    const upright = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    const capped = fc.tuple(usualOptions, fc.option(fc.integer({ min: 1, max: 8 })))
    fc.assert(
      fc.property(upright, capped, (cards, [options, columns]) => {
        const seats = solve('masonry', cards, { ...options, columns }).cards
        const fitting = Math.max(1, Math.floor((options.width + options.gap) / (280 + options.gap)))
        const count = Math.min(fitting, columns ?? fitting)
        const w = Math.floor((options.width - options.gap * (count - 1)) / count)
        for (const seat of seats) {
          if (seat.h === 4000) continue // it can't be higher
          expect(seat.w).toBe(w)
          expect(keepsRatio(byId(cards).get(seat.id)!, seat)).toBe(true)
        }
        const lowest = Math.min(count, cards.length)
        const columnsUsed = Map.groupBy(seats, ({ x }) => x)
        expect([...columnsUsed.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: lowest }, (_, n) => n * (w + options.gap)))
        for (const column of columnsUsed.values())
          column.slice(1).forEach((seat, at) => expect(seat.y - column[at]!.y - column[at]!.h).toBe(options.gap))
      }),
      { numRuns: 200 },
    )
  }) // prettier-ignore

  test('[Z15] no card of masonry lies lower than a row’s tolerance above one that follows it', () => {
    fc.assert(
      fc.property(
        fc.array(usualCard, { maxLength: 60, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          const seats = solve('masonry', cards, options).cards
          seats.slice(1).forEach((seat, at) => expect(seat.y).toBeGreaterThan(seats[at]!.y - 20))
        },
      ),
    )
  })

  test('[Z16] a grid has cells of one size with exact gaps, which cards fill; pictures keep their proportions in them', () => {
    const some = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    fc.assert(
      fc.property(some, usualOptions, fc.option(fc.integer({ min: 1, max: 8 })), (cards, options, columns) => {
        const seats = solve('grid', cards, { ...options, columns }).cards
        const fitting = Math.max(1, Math.floor((options.width + options.gap) / (280 + options.gap)))
        const count = Math.min(fitting, columns ?? fitting)
        const w = Math.floor((options.width - options.gap * (count - 1)) / count)
        const tall = seats.find(({ id }) => !['image', 'video'].includes(byId(cards).get(id)!.kind))
        const h = tall?.h ?? (seats[count] ? seats[count].y - options.gap : Infinity)
        seats.forEach((seat, at) => {
          const card = byId(cards).get(seat.id)!
          expect(seat.x).toBe((at % count) * (w + options.gap))
          if (h < Infinity) expect(seat.y).toBe(Math.floor(at / count) * (h + options.gap))
          if (!['image', 'video'].includes(card.kind)) expect([seat.w, seat.h]).toEqual([w, h])
          else {
            // A card that would be thinner than cards may be has its longer side shortened instead.
            expect(keepsRatio(card, seat) || Math.min(seat.w, seat.h) === 40).toBe(true)
            expect(seat.w <= w && seat.h <= h).toBe(true)
          }
        })
      }),
      { numRuns: 200 },
    )
  }) // prettier-ignore

  test('[Z16] a group that does not fit into the rest of a row of the grid begins a new one', () => {
    const cards = named([{}, {}, {}, {}, { group_id: 'a' }, { group_id: 'a' }, { group_id: 'a' }, {}])
    expect(rowsOf(solve('grid', cards).cards).map((row) => row.map(({ x }) => x))).toEqual([
      [0, 300, 600, 900],
      [0, 300, 600, 900],
    ])
  })

  test('[Z17] a row and a column keep the sizes of cards, with exact gaps', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ w: side, h: side }), { maxLength: 40, size: 'max' }).map(named), anyOptions, (cards, options) => {
        let [x, y] = [0, 0]
        const row = solve('row', cards, options).cards
        const column = solve('column', cards, options).cards
        cards.forEach((card, at) => {
          const size = { w: Math.round(card.w), h: Math.round(card.h) }
          expect(row[at]).toEqual({ id: card.id, x, y: 0, ...size })
          expect(column[at]).toEqual({ id: card.id, x: 0, y, ...size })
          x += size.w + options.gap
          y += size.h + options.gap
        })
      }),
    )
  }) // prettier-ignore

  test('[Z17] what is longer than half a board goes on beside it', () => {
    const long = times(600, { w: 4000, h: 4000 })
    const rows = rowsOf(solve('row', long).cards)
    expect(rows.map((row) => row.length)).toEqual([248, 248, 104])
    expect(rows.map(([first]) => first!.y)).toEqual([0, 4020, 8040])
    const columns = Map.groupBy(solve('column', long).cards, ({ x }) => x)
    expect([...columns].map(([x, column]) => [x, column.length])).toEqual([[0, 248], [4020, 248], [8040, 104]])
  }) // prettier-ignore
})

describe('on the board', () => {
  const extent = { left: -10, top: 0, right: 500, bottom: 300 }

  test('[Z20] a block begins where its cards were, moved as little as it takes to lie on the board', () => {
    expect(withinBoard(extent, { x: 70, y: -80 })).toEqual({ x: 70, y: -80 })
    expect(withinBoard(extent, { x: 999_900, y: 999_900 })).toEqual({ x: 999_500, y: 999_700 })
    expect(withinBoard(extent, { x: -1_000_000, y: -1_000_000 })).toEqual({ x: -999_990, y: -1_000_000 })
    expect(fitsBoard({ ...extent, bottom: 2_000_000 })).toBe(true)
    expect(fitsBoard({ ...extent, bottom: 2_000_001 })).toBe(false)
  })

  test('[Z21] it lands on nothing else: where it was if there is room, else in free space', () => {
    const rest = { x: 600, y: 0, w: 100, h: 100 }
    expect(besides([rest], extent, { x: 0, y: 0 }, 20)).toEqual({ x: 0, y: 0 })
    fc.assert(
      fc.property(
        fc.array(fc.record({ x: fc.integer({ min: -2000, max: 2000 }), y: fc.integer({ min: -2000, max: 2000 }), w: side, h: side }), { maxLength: 20, size: 'max' }),
        fc.record({ x: fc.integer({ min: -3000, max: 3000 }), y: fc.integer({ min: -3000, max: 3000 }) }),
        (rest, at) => {
          const place = besides(rest, extent, at, 20)!
          const block = { id: 'block', x: place.x - 10, y: place.y, w: 510, h: 300 }
          for (const rect of rest) expect(tooNear([block, { id: 'rest', ...rect }], 20)).toEqual([])
        },
      ),
    )
  }) // prettier-ignore

  test('[Z21] on a board without such a place there is none', () => {
    const full = Array.from({ length: 100 }, (_, n) => ({ x: -1_000_000 + (n % 10) * 200_000, y: -1_000_000 + Math.floor(n / 10) * 200_000, w: 4000, h: 4000 }))
    expect(besides(full, { left: 0, top: 0, right: 1_000_000, bottom: 1_000_000 }, { x: 0, y: 0 }, 20)).toBeNull()
  }) // prettier-ignore

  test('[Z22] cards are read row by row, tops that differ by less than 20 being one row, turned cards by their bounding boxes', () => {
    const at = (id: string, x: number, y: number, more = {}) => ({ id, x, y, w: 100, h: 100, rotation: 0, ...more })
    const cards = [at('d', 0, 205), at('c', 300, 0), at('a', 0, 12), at('b', 150, 19), at('f', 0, 225), at('e', 200, 200)]
    expect(readingOrder(cards).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    // Upright it would begin above the others.
    const turned = at('z', 100, -150, { w: 40, h: 400, rotation: 90 })
    expect(readingOrder([turned, at('y', 0, 10)]).map(({ id }) => id)).toEqual(['y', 'z'])
  }) // prettier-ignore
})

test('[Z23] 1,000 cards are laid out in well under 50 ms, 10,000 in a fraction of a second, also such as are hard', () => {
  const sizes = (n: number) => ({ w: 40 + ((n * 7919) % 3960), h: 40 + ((n * 104_729) % 3960) })
  const mixed = (count: number) =>
    named(
      Array.from({ length: count }, (_, n) => ({
        ...sizes(n),
        kind: n % 2 ? 'image' : 'note',
        rotation: n % 9 === 0 ? n % 180 : 0,
        section_header: n % 97 === 0,
        group_id: n % 5 === 0 ? `g${n % 250}` : null,
      })),
    )
  const extreme = (count: number) =>
    named(Array.from({ length: count }, (_, n) => (n % 2 ? { w: 40, h: 4000 } : { w: 4000, h: 40 })))
  const hard: Partial<LayoutOptions> = { width: 100_000, gap: 0, rowHeight: 40 }
  for (const layout of layoutNames) {
    for (const make of [mixed, extreme, times]) {
      for (const options of [{}, hard]) {
        for (const [count, boundMs] of [[1000, 50], [10_000, 400]] as const) {
          const cards = make(count)
          const took = Math.min(
            ...[1, 2, 3].map(() => {
              const from = performance.now()
              solve(layout, cards, options)
              return performance.now() - from
            }),
          )
          expect(took, `${layout} of ${count} ${make.name}`).toBeLessThan(boundMs)
        }
      }
    }
  }
}) // prettier-ignore
