import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundingBox, type Rect } from '../../core/layout/box.ts'
import { FreeSpace } from '../../core/layout/free-space.ts'

const EDGE = 1_000_000
const DEFAULT_SIZE = { w: 280, h: 180 }

const side = fc.integer({ min: 40, max: 4_000 })
const size = fc.record({ w: side, h: side })
const rectsWithin = (range: number, maxLength = 40) =>
  fc.array(
    fc.record({
      x: fc.integer({ min: -range, max: range }),
      y: fc.integer({ min: -range, max: range }),
      w: side,
      h: side,
    }),
    { maxLength },
  )

function times<Size>(count: number, size: Size): Size[] {
  return Array.from({ length: count }, () => size)
}

function placeAll(
  content: readonly Rect[],
  sizes: readonly { w: number; h: number }[],
  gap?: number,
): Rect[] {
  const space = new FreeSpace(gap)
  for (const rect of content) space.occupy(rect)
  return sizes.map((size) => ({ ...space.place(size), ...size }))
}

/** How far apart two rectangles are, on the axis where they are further apart; negative if they overlap. */
function distance(a: Rect, b: Rect): number {
  return Math.max(a.x - b.x - b.w, b.x - a.x - a.w, a.y - b.y - b.h, b.y - a.y - a.h)
}

function expectApart(placed: readonly Rect[], content: readonly Rect[], gap = 20): void {
  const slack = 1e-6
  const others = [...content, ...placed]
  for (let start = 0; start < placed.length; start += 20) {
    const some = placed.slice(start, start + 20)
    const all = around(some)
    const near = others.filter((other) => isNearer(all, other, gap))
    for (const rect of some) {
      const tooNear = near.filter((other) => other !== rect && isNearer(rect, other, gap - slack))
      expect(tooNear, `too near to ${JSON.stringify(rect)}`).toEqual([])
    }
  }
}

function around(rects: readonly Rect[]): Rect {
  const x = Math.min(...rects.map((rect) => rect.x))
  const y = Math.min(...rects.map((rect) => rect.y))
  const right = Math.max(...rects.map((rect) => rect.x + rect.w))
  const bottom = Math.max(...rects.map((rect) => rect.y + rect.h))
  return { x, y, w: right - x, h: bottom - y }
}

function isNearer(a: Rect, b: Rect, gap: number): boolean {
  return a.x < b.x + b.w + gap && b.x < a.x + a.w + gap && a.y < b.y + b.h + gap && b.y < a.y + a.h + gap
}

function expectOnBoard(placed: readonly Rect[]): void {
  for (const { x, y, w, h } of placed) {
    expect(Number.isInteger(x) && Number.isInteger(y)).toBe(true)
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(-EDGE)
    expect(Math.max(x + w, y + h)).toBeLessThanOrEqual(EDGE)
  }
}

describe('rows', () => {
  test('[P1] an empty board is filled in rows of six default cards', () => {
    const placed = placeAll([], times(8, DEFAULT_SIZE))
    expect(placed.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [300, 0],
      [600, 0],
      [900, 0],
      [1200, 0],
      [1500, 0],
      [0, 200],
      [300, 200],
    ])
  })

  test('[P5] a row begins beside the content and goes on below it', () => {
    const content = [0, 300, 600, 900].map((x) => ({ x: 5_000 + x, y: -700, ...DEFAULT_SIZE }))
    const placed = placeAll(content, times(3, DEFAULT_SIZE))
    expect(placed.map(({ x, y }) => [x, y])).toEqual([
      [6_200, -700],
      [6_500, -700],
      [5_000, -500],
    ])
  })

  test('[P10] at least four of the largest cards share a row', () => {
    const placed = placeAll([], times(8, { w: 4_000, h: 4_000 }))
    expect(placed.filter(({ y }) => y === placed[0]!.y).length).toBeGreaterThanOrEqual(4)
  })

  test('[P6] a card that lies far out does not draw the new ones there', () => {
    const group = [0, 300, 600].map((x) => ({ x, y: 0, ...DEFAULT_SIZE }))
    const lost = { x: -900_000, y: -900_000, ...DEFAULT_SIZE }
    expect(placeAll([lost, ...group], [DEFAULT_SIZE])).toEqual([{ x: 900, y: 0, ...DEFAULT_SIZE }])
  })

  test('[P7] content at the lower edge goes on upwards', () => {
    const content = [{ x: 0, y: EDGE - 180, w: 1_780, h: 180 }]
    const placed = placeAll(content, times(7, DEFAULT_SIZE))
    expect(placed.map(({ x, y }) => [x, y])).toEqual([
      ...[0, 300, 600, 900, 1_200, 1_500].map((x) => [x, EDGE - 380]),
      [0, EDGE - 580],
    ])
  })

  test('[P14] a rectangle that is no place on the board takes up nothing', () => {
    const nowhere = [
      { x: NaN, y: 0, ...DEFAULT_SIZE },
      { x: 0, y: 0, w: NaN, h: 180 },
      { x: Infinity, y: 0, ...DEFAULT_SIZE },
      { x: 3 * EDGE, y: 0, ...DEFAULT_SIZE },
    ]
    expect(placeAll(nowhere, [DEFAULT_SIZE])).toEqual([{ x: 0, y: 0, ...DEFAULT_SIZE }])
  })

  test('[P14] one that is wider than the board takes up what lies on it', () => {
    const [placed] = placeAll([{ x: -1e300, y: 0, w: 2e300, h: 180 }], [DEFAULT_SIZE])
    expect(placed).toMatchObject({ y: 200 })
    expectOnBoard([placed!])
  })

  test('[P13] what is occupied between two places is respected', () => {
    const space = new FreeSpace()
    expect(space.place(DEFAULT_SIZE)).toEqual({ x: 0, y: 0 })
    space.occupy({ x: 300, y: 0, w: 1_000, h: 180 })
    expect(space.place(DEFAULT_SIZE)).toEqual({ x: 1_320, y: 0 })
  })
})

describe('whatever lies on the board', () => {
  test('[P2] nothing placed overlaps, and the gap is kept', () => {
    fc.assert(
      fc.property(
        rectsWithin(6_000),
        fc.array(size, { maxLength: 40 }),
        fc.integer({ min: 0, max: 300 }),
        (content, sizes, gap) => expectApart(placeAll(content, sizes, gap), content, gap),
      ),
    )
  })

  test('[P2][P13] nor if content comes in between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(rectsWithin(4_000, 4), size), { maxLength: 20 }), (steps) => {
        const space = new FreeSpace()
        const taken: Rect[] = []
        for (const [content, size] of steps) {
          for (const rect of content) space.occupy(rect)
          taken.push(...content)
          const placed = { ...space.place(size), ...size }
          expectApart([placed], taken)
          taken.push(placed)
        }
      }),
    )
  })

  test('[P3] places are whole-numbered and on the board, also with content at its edges', () => {
    const coordinate = fc.constantFrom(-EDGE, EDGE - 3_000, EDGE - 100, EDGE)
    const atEdges = fc.array(fc.record({ x: coordinate, y: coordinate, w: side, h: side }), { maxLength: 9 })
    fc.assert(
      fc.property(atEdges, fc.array(size, { maxLength: 40 }), (content, sizes) => {
        const placed = placeAll(content, sizes)
        expectOnBoard(placed)
        expectApart(placed, content)
      }),
    )
  })

  test('[P4] the order in which the content was told makes no difference', () => {
    fc.assert(
      fc.property(rectsWithin(20_000), fc.array(size, { maxLength: 10 }), (content, sizes) => {
        expect(placeAll(content.toReversed(), sizes)).toEqual(placeAll(content, sizes))
      }),
    )
  })

  test('[P5] a default card has another one within the width of a row', () => {
    fc.assert(
      fc.property(
        rectsWithin(60_000).filter((content) => content.length > 0),
        fc.integer({ min: 1, max: 60 }),
        (content, count) => {
          const placed = placeAll(content, times(count, DEFAULT_SIZE))
          placed.forEach((rect, index) => {
            const others = [...content, ...placed.slice(0, index)]
            expect(Math.min(...others.map((other) => distance(rect, other)))).toBeLessThanOrEqual(1_780)
          })
        },
      ),
    )
  })

  test('[P11] one by one gives the places of a batch', () => {
    fc.assert(
      fc.property(size, fc.integer({ min: 2, max: 30 }), (size, count) => {
        const oneByOne: Rect[] = []
        for (let index = 0; index < count; index++) oneByOne.push(...placeAll(oneByOne, [size]))
        expect(oneByOne).toEqual(placeAll([], times(count, size)))
      }),
      { numRuns: 20 },
    )
  })
})

describe('rotation', () => {
  test('[P9] a quarter turn swaps the sides about the centre', () => {
    const box = boundingBox({ x: 0, y: 0, w: 400, h: 100, rotation: 90 })
    expect(box.x).toBeCloseTo(150)
    expect(box.y).toBeCloseTo(-150)
    expect(box.w).toBeCloseTo(100)
    expect(box.h).toBeCloseTo(400)
  })

  test('[P9] every corner of a turned card lies within its bounding box, and touches it', () => {
    fc.assert(
      fc.property(size, fc.double({ min: -180, max: 180, noNaN: true }), ({ w, h }, rotation) => {
        const box = boundingBox({ x: 10, y: 20, w, h, rotation })
        const radians = (rotation * Math.PI) / 180
        const corners = [-1, 1].flatMap((across) =>
          [-1, 1].map((down) => ({
            x: 10 + w / 2 + (Math.cos(radians) * across * w - Math.sin(radians) * down * h) / 2,
            y: 20 + h / 2 + (Math.sin(radians) * across * w + Math.cos(radians) * down * h) / 2,
          })),
        )
        expect(Math.min(...corners.map(({ x }) => x))).toBeCloseTo(box.x, 6)
        expect(Math.max(...corners.map(({ x }) => x))).toBeCloseTo(box.x + box.w, 6)
        expect(Math.min(...corners.map(({ y }) => y))).toBeCloseTo(box.y, 6)
        expect(Math.max(...corners.map(({ y }) => y))).toBeCloseTo(box.y + box.h, 6)
      }),
    )
  })

  test('[P9] placed cards that are rotated do not overlap, and lie on the board at its edges too', () => {
    const card = fc.record({ w: side, h: side, rotation: fc.integer({ min: -180, max: 180 }) })
    const corner = fc.constantFrom(-EDGE, 0, EDGE)
    fc.assert(
      fc.property(fc.array(card, { maxLength: 30 }), corner, corner, (cards, x, y) => {
        const space = new FreeSpace()
        const content = [{ x, y, ...DEFAULT_SIZE }]
        space.occupy(content[0]!)
        const placed = cards.map((card) => ({ ...space.place(card), ...card }))
        expectOnBoard(placed)
        expectApart(placed.map(boundingBox), content)
      }),
    )
  })
})

describe('large boards', () => {
  const count = 100_000
  /** A fixed sequence of numbers from 0 to below `most`. */
  function sequence(seed: number): (most: number) => number {
    let state = seed
    return (most) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * most)
    }
  }
  const next = sequence(7)
  const boards: Record<string, (index: number) => Rect> = {
    'a dense grid': (i) => ({ x: (i % 316) * 300, y: Math.floor(i / 316) * 200, ...DEFAULT_SIZE }),
    'all in one spot': () => ({ x: 0, y: 0, ...DEFAULT_SIZE }),
    'large ones around one spot': () => ({
      x: next(400),
      y: next(400),
      w: 40 + next(3_960),
      h: 40 + next(3_960),
    }),
    'a diagonal': (i) => ({ x: 20 * i - EDGE, y: 20 * i - EDGE, ...DEFAULT_SIZE }),
    'a rising diagonal': (i) => ({ x: 20 * i - EDGE, y: EDGE - 20 * i, ...DEFAULT_SIZE }),
    'one column': (i) => ({ x: 0, y: 20 * i - EDGE, w: 4_000, h: 180 }),
    'a column with holes': (i) => ({
      x: (i % 6) * 300,
      y: 119 * Math.floor(i / 6) - EDGE,
      w: 280,
      h: 40 + next(60),
    }),
    'the whole board': (i) => ({
      x: 6_324 * (i % 316) - EDGE,
      y: 6_324 * Math.floor(i / 316) - EDGE,
      w: 4_000,
      h: 4_000,
    }),
    'all over the place': () => ({ x: next(2 * EDGE) - EDGE, y: next(2 * EDGE) - EDGE, w: 4_000, h: 4_000 }),
  }

  test.each(Object.keys(boards))('[P8][P2][P3] %s', (name) => {
    const content = Array.from({ length: count }, (_, index) => boards[name]!(index))
    const before = performance.now()
    const placed = placeAll(content, times(1_000, DEFAULT_SIZE))
    expect(performance.now() - before).toBeLessThan(3_000)
    expectOnBoard(placed)
    expectApart(placed, content)
  })

  test('[P8] cards of many sizes on a board that is nearly full', () => {
    const content = Array.from({ length: count }, (_, index) => boards['the whole board']!(index))
    const sizes = Array.from({ length: 1_000 }, () => ({ w: 40 + next(3_960), h: 40 + next(3_960) }))
    const before = performance.now()
    const placed = placeAll(content, sizes)
    expect(performance.now() - before).toBeLessThan(6_000)
    expectApart(placed, content)
  })

  test('[P12] a card without any place lies on the board; a smaller one still finds a hole', () => {
    const content = Array.from({ length: count }, (_, index) => boards['the whole board']!(index))
    const [large, small] = placeAll(content, [{ w: 4_000, h: 4_000 }, DEFAULT_SIZE])
    expectOnBoard([large!, small!])
    expectApart([small!], [...content, large!])
  })
})
