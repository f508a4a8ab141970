/** What holds for every layout, and where a block of cards lands. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LayoutOptions } from '../../core/layout/arrangement.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { withinBoard } from '../../core/layout/box.ts'
import { besides, fitsBoard } from '../../core/layout/place-block.ts'
import { readingOrder } from '../../core/layout/reading-order.ts'
import {
  anyCard,
  anyCards,
  anyLayout,
  anyOptions,
  boxes,
  byId,
  named,
  side,
  solve,
  times,
  tooNear,
  usualCard,
  usualOptions,
} from './layout-cards.ts'

describe('of every layout', () => {
  test('[Z1] no two cards overlap or lie nearer than the gap, turned ones by their bounding boxes', () => {
    fc.assert(
      fc.property(anyLayout, anyCards, anyOptions, (layout, cards, options) => {
        const { cards: places } = solve(layout, cards, options)
        expect(tooNear(boxes(cards, places), options.gap)).toEqual([])
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
        const { cards: places, extent } = solve(layout, cards, options)
        for (const { x, y, w, h } of places) {
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
    const cards = fc
      .array(
        anyCard.map((card) => ({ ...card, w: Math.min(card.w, 800), h: Math.min(card.h, 800) })),
        { maxLength: 60, size: 'max' },
      )
      .map(named)
    fc.assert(
      fc.property(anyLayout, cards, anyOptions, (layout, cards, options) => {
        const all = boxes(cards, solve(layout, cards, options).cards)
        for (const group of ['a', 'b', 'c']) {
          const [own, others] = [true, false].map((is) =>
            all.filter(({ id }) => (byId(cards).get(id)!.group_id === group) === is),
          )
          if (own!.length === 0) continue
          const [left, top] = [Math.min(...own!.map(({ x }) => x)), Math.min(...own!.map(({ y }) => y))]
          const [right, bottom] = [
            Math.max(...own!.map(({ x, w }) => x + w)),
            Math.max(...own!.map(({ y, h }) => y + h)),
          ]
          const around = { id: group, x: left, y: top, w: right - left, h: bottom - top }
          expect(others!.flatMap((other) => tooNear([around, other], 0))).toEqual([])
        }
      }),
      { numRuns: 300 },
    )
  })

  test('[Z6] a heading has a row of its own, as wide as the block; what comes before it lies above, what follows below', () => {
    const upright = fc
      .array(
        anyCard.map((card) => ({ ...card, rotation: 0, group_id: null })),
        { maxLength: 40, size: 'max' },
      )
      .map(named)
    fc.assert(
      fc.property(anyLayout, upright, anyOptions, (layout, cards, options) => {
        const { cards: places } = solve(layout, cards, options)
        places.forEach((heading, at) => {
          const card = byId(cards).get(heading.id)!
          if (!card.section_header) return
          for (const other of places.slice(0, at))
            expect(other.y + other.h + options.gap).toBeLessThanOrEqual(heading.y)
          for (const other of places.slice(at + 1))
            expect(other.y).toBeGreaterThanOrEqual(heading.y + heading.h + options.gap)
          expect(heading.x).toBe(0)
          const width = options.width ?? (layout === 'row' || layout === 'column' ? null : 1780)
          if (width !== null) expect(heading.w).toBe(Math.min(4000, width))
          expect(heading.h).toBe(Math.max(Math.round(card.h), card.sub === null ? 40 : 64))
        })
      }),
    )
    const widest = solve(
      'row',
      named([{ section_header: true }, { w: 700 }, { w: 500 }, { section_header: true }, {}]),
    ).cards
    expect(widest.map(({ w }) => w)).toEqual([1220, 700, 500, 1220, 280])
  })

  test('[Z7] no cards make no arrangement', () => {
    for (const layout of layoutNames)
      expect(solve(layout, [])).toEqual({ cards: [], extent: { left: 0, top: 0, right: 0, bottom: 0 } })
  })

  test('[Z8] what is arranged again in its reading order stays where it is', () => {
    const some = fc.array(usualCard, { minLength: 1, maxLength: 60, size: 'max' }).map(named)
    const stable = fc.constantFrom(...layoutNames.filter((layout) => layout !== 'justified'))
    const claim = fc.property(stable, some, usualOptions, (layout, cards, options) => {
      const first = solve(layout, cards, options).cards
      const again = readingOrder(first.map((place) => ({ ...byId(cards).get(place.id)!, ...place })))
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
        fc.array(
          fc.record({
            x: fc.integer({ min: -2000, max: 2000 }),
            y: fc.integer({ min: -2000, max: 2000 }),
            w: side,
            h: side,
          }),
          { maxLength: 20, size: 'max' },
        ),
        fc.record({ x: fc.integer({ min: -3000, max: 3000 }), y: fc.integer({ min: -3000, max: 3000 }) }),
        (rest, at) => {
          const place = besides(rest, extent, at, 20)!
          const block = { id: 'block', x: place.x - 10, y: place.y, w: 510, h: 300 }
          for (const rect of rest) expect(tooNear([block, { id: 'rest', ...rect }], 20)).toEqual([])
        },
      ),
    )
  })

  test('[Z21] on a board without such a place there is none', () => {
    const full = Array.from({ length: 100 }, (_, n) => ({
      x: -1_000_000 + (n % 10) * 200_000,
      y: -1_000_000 + Math.floor(n / 10) * 200_000,
      w: 4000,
      h: 4000,
    }))
    expect(
      besides(full, { left: 0, top: 0, right: 1_000_000, bottom: 1_000_000 }, { x: 0, y: 0 }, 20),
    ).toBeNull()
  })

  test('[Z22] cards are read row by row, tops that differ by less than 20 being one row, turned cards by their bounding boxes', () => {
    const at = (id: string, x: number, y: number, more = {}) => ({
      id,
      x,
      y,
      w: 100,
      h: 100,
      rotation: 0,
      ...more,
    })
    const cards = [
      at('d', 0, 205),
      at('c', 300, 0),
      at('a', 0, 12),
      at('b', 150, 19),
      at('f', 0, 225),
      at('e', 200, 200),
    ]
    expect(readingOrder(cards).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    // Upright it would begin above the others.
    const turned = at('z', 100, -150, { w: 40, h: 400, rotation: 90 })
    expect(readingOrder([turned, at('y', 0, 10)]).map(({ id }) => id)).toEqual(['y', 'z'])
  })
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
        for (const [count, boundMs] of [
          [1000, 50],
          [10_000, 400],
        ] as const) {
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
})
