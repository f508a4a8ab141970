/** What each layout makes of its cards. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundingBox } from '../../core/layout/box.ts'
import {
  anyOptions,
  byId,
  keepsRatio,
  named,
  rowsOf,
  side,
  solve,
  times,
  usualCard,
  usualOptions,
} from './layout-cards.ts'

describe('justified', () => {
  test('[Z10] every row but the last is flush on both edges, and gaps are exact', () => {
    fc.assert(
      fc.property(
        fc.array(usualCard, { minLength: 1, maxLength: 80, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          const rows = rowsOf(solve('justified', cards, options).cards)
          rows.forEach((row, n) => {
            expect(row[0]!.x).toBe(0)
            row.slice(1).forEach((place, at) => expect(place.x - row[at]!.x - row[at]!.w).toBe(options.gap))
            const right = row.at(-1)!.x + row.at(-1)!.w
            if (n < rows.length - 1) expect(Math.abs(right - options.width)).toBeLessThanOrEqual(1)
            else expect(right).toBeLessThanOrEqual(options.width + 1)
            if (n > 0)
              expect(row[0]!.y - Math.max(...rows[n - 1]!.map(({ y, h }) => y + h))).toBe(options.gap)
          })
        },
      ),
      { numRuns: 400 },
    )
  })

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
      fc.property(
        fc.array(usualCard, { minLength: 1, maxLength: 40, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          const wide = { ...options, width: 100_000 }
          const places = solve('justified', cards, wide).cards
          expect(rowsOf(places)).toHaveLength(1)
          for (const { id, h } of places) {
            const card = byId(cards).get(id)!
            const least = Math.round((40 * card.h) / Math.min(card.w, card.h)) // as high as it is when it is as thin as may be
            expect(h).toBe(Math.max(options.rowHeight, least))
          }
        },
      ),
    )
    const rows = rowsOf(solve('justified', times(8), { rowHeight: 200 }).cards)
    expect(rows.map((row) => row.length)).toEqual([5, 3])
    expect(rows.map((row) => row[0]!.h)).toEqual([219, 200])
    const before = solve('justified', named([{}, { section_header: true }, {}])).cards
    expect(before.map(({ w, h }) => [w, h])).toEqual([
      [280, 180],
      [1780, 180],
      [280, 180],
    ])
  })

  test('[Z12] pictures keep their proportions, whatever they are, where they fit the block at all', () => {
    const pictures = fc
      .array(fc.record({ kind: fc.constantFrom('image', 'video', 'note'), w: side, h: side }), {
        maxLength: 60,
        size: 'max',
      })
      .map(named)
    fc.assert(
      fc.property(pictures, anyOptions, (cards, options) => {
        for (const place of solve('justified', cards, options).cards) {
          const card = byId(cards).get(place.id)!
          if (card.kind === 'note' || (40 * card.w) / card.h > (options.width ?? 1780)) continue
          expect(keepsRatio(card, place), JSON.stringify([card, place])).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('[Z12] so do all other cards, where that leaves the rows flush', () => {
    fc.assert(
      fc.property(
        fc.array(usualCard, { maxLength: 60, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          for (const place of solve('justified', cards, options).cards)
            expect(keepsRatio(byId(cards).get(place.id)!, place)).toBe(true)
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
    const [turned, next] = solve('justified', named([{ kind: 'image', w: 400, h: 200, rotation: 90 }, {}]), {
      rowHeight: 400,
    }).cards
    expect(keepsRatio({ w: 400, h: 200 }, turned!)).toBe(true)
    const { x, y, w, h } = boundingBox({ ...turned!, rotation: 90 })
    for (const [is, should] of [
      [x, 0],
      [y, 0],
      [w, 200],
      [h, 400],
    ] as const)
      expect(Math.abs(is - should)).toBeLessThanOrEqual(2)
    expect(Math.abs(next!.x - 220)).toBeLessThanOrEqual(1)
  })
})

describe('masonry, grid, row, column', () => {
  test('[Z15] columns of masonry have one width and exact gaps, as many as fit and at most `columns`', () => {
    const upright = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    const capped = fc.tuple(usualOptions, fc.option(fc.integer({ min: 1, max: 8 })))
    fc.assert(
      fc.property(upright, capped, (cards, [options, columns]) => {
        const places = solve('masonry', cards, { ...options, columns }).cards
        const fitting = Math.max(1, Math.floor((options.width + options.gap) / (280 + options.gap)))
        const count = Math.min(fitting, columns ?? fitting)
        const w = Math.floor((options.width - options.gap * (count - 1)) / count)
        for (const place of places) {
          if (place.h === 4000) continue // it can't be higher
          expect(place.w).toBe(w)
          expect(keepsRatio(byId(cards).get(place.id)!, place)).toBe(true)
        }
        const lowest = Math.min(count, cards.length)
        const columnsUsed = Map.groupBy(places, ({ x }) => x)
        expect([...columnsUsed.keys()].sort((a, b) => a - b)).toEqual(
          Array.from({ length: lowest }, (_, n) => n * (w + options.gap)),
        )
        for (const column of columnsUsed.values())
          column
            .slice(1)
            .forEach((place, at) => expect(place.y - column[at]!.y - column[at]!.h).toBe(options.gap))
      }),
      { numRuns: 200 },
    )
  })

  test('[Z15] no card of masonry lies lower than a row’s tolerance above one that follows it', () => {
    fc.assert(
      fc.property(
        fc.array(usualCard, { maxLength: 60, size: 'max' }).map(named),
        usualOptions,
        (cards, options) => {
          const places = solve('masonry', cards, options).cards
          places.slice(1).forEach((place, at) => expect(place.y).toBeGreaterThan(places[at]!.y - 20))
        },
      ),
    )
  })

  test('[Z16] a grid has cells of one size with exact gaps, which cards fill; pictures keep their proportions in them', () => {
    const some = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    fc.assert(
      fc.property(
        some,
        usualOptions,
        fc.option(fc.integer({ min: 1, max: 8 })),
        (cards, options, columns) => {
          const places = solve('grid', cards, { ...options, columns }).cards
          const fitting = Math.max(1, Math.floor((options.width + options.gap) / (280 + options.gap)))
          const count = Math.min(fitting, columns ?? fitting)
          const w = Math.floor((options.width - options.gap * (count - 1)) / count)
          const tall = places.find(({ id }) => !['image', 'video'].includes(byId(cards).get(id)!.kind))
          const h = tall?.h ?? (places[count] ? places[count].y - options.gap : Infinity)
          places.forEach((place, at) => {
            const card = byId(cards).get(place.id)!
            expect(place.x).toBe((at % count) * (w + options.gap))
            if (h < Infinity) expect(place.y).toBe(Math.floor(at / count) * (h + options.gap))
            if (!['image', 'video'].includes(card.kind)) expect([place.w, place.h]).toEqual([w, h])
            else {
              // One that would be thinner than cards may be has its longer side shortened instead.
              const fitted = Math.min(card.w, card.h) * Math.min(w / card.w, h / card.h)
              if (fitted < 40) expect(Math.min(place.w, place.h)).toBe(40)
              else expect(keepsRatio(card, place)).toBe(true)
              expect(place.w <= w && place.h <= h).toBe(true)
            }
          })
        },
      ),
      { numRuns: 200 },
    )
  })

  test('[Z16] a group that does not fit into the rest of a row of the grid begins a new one', () => {
    const cards = named([{}, {}, {}, {}, { group_id: 'a' }, { group_id: 'a' }, { group_id: 'a' }, {}])
    expect(rowsOf(solve('grid', cards).cards).map((row) => row.map(({ x }) => x))).toEqual([
      [0, 300, 600, 900],
      [0, 300, 600, 900],
    ])
  })

  test('[Z17] a row and a column keep the sizes of cards, with exact gaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ w: side, h: side }), { maxLength: 40, size: 'max' }).map(named),
        anyOptions,
        (cards, options) => {
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
        },
      ),
    )
  })

  test('[Z17] what is longer than half a board goes on beside it', () => {
    const long = times(600, { w: 4000, h: 4000 })
    const rows = rowsOf(solve('row', long).cards)
    expect(rows.map((row) => row.length)).toEqual([248, 248, 104])
    expect(rows.map(([first]) => first!.y)).toEqual([0, 4020, 8040])
    const columns = Map.groupBy(solve('column', long).cards, ({ x }) => x)
    expect([...columns].map(([x, column]) => [x, column.length])).toEqual([
      [0, 248],
      [4020, 248],
      [8040, 104],
    ])
  })
})
