/** How a turned card is resized. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { resized, type Box, type Grip } from '../../web/canvas/geometry.ts'

const corner = { x: 100, y: 50, w: 200, h: 100 }

/** Where a grip is on the board. */
function gripOf({ x, y, w, h }: Box, rotation: number, [across, down]: Grip): { x: number; y: number } {
  const [dx, dy] = [(across * w) / 2, (down * h) / 2]
  const turn = (rotation * Math.PI) / 180
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)]
  return { x: x + w / 2 + dx * cos - dy * sin, y: y + h / 2 + dx * sin + dy * cos }
}

const opposite = ([across, down]: Grip) => [-across, -down] as unknown as Grip

test('[WC12] a card that is not turned is resized as its grips move', () => {
  const straight = { ...corner, rotation: 0 }
  expect(resized(straight, [1, 1], { x: 30, y: 20 })).toEqual({ x: 100, y: 50, w: 230, h: 120 })
  expect(resized(straight, [-1, -1], { x: 30, y: 20 })).toEqual({ x: 130, y: 70, w: 170, h: 80 })
  expect(resized(straight, [0, 1], { x: 30, y: 20 })).toEqual({ x: 100, y: 50, w: 200, h: 120 })
  expect(resized(straight, [1, 0], { x: -900, y: 0 })).toEqual({ x: 100, y: 50, w: 40, h: 100 })
})

test('[WC12] a card that is turned by a quarter gets wider when its grip goes down', () => {
  const { w, h } = resized({ ...corner, rotation: 90 }, [1, 0], { x: 500, y: 60 })
  expect({ w, h }).toEqual({ w: 260, h: 100 })
})

test('[WC12] of every turned card the opposite corner stays, and the grip follows the pointer', () => {
  const side = fc.constantFrom(-1, 0, 1) as fc.Arbitrary<-1 | 0 | 1>
  const grips = fc.tuple(side, side).filter(([across, down]) => across !== 0 || down !== 0)
  const place = fc.integer({ min: -1000, max: 1000 })
  const size = fc.integer({ min: 40, max: 1000 })
  const rotation = fc.integer({ min: -179, max: 180 })
  const cards = fc.record({ x: place, y: place, w: size, h: size, rotation })
  fc.assert(
    fc.property(cards, grips, place, place, (card, grip, dx, dy) => {
      const after = resized(card, grip, { x: dx, y: dy })
      for (const length of [after.w, after.h]) {
        expect(length).toBeGreaterThanOrEqual(40)
        expect(length).toBeLessThanOrEqual(4000)
      }
      const [kept, keptAfter] = [card, after].map((one) => gripOf(one, card.rotation, opposite(grip)))
      expect(keptAfter!.x).toBeCloseTo(kept!.x, 6)
      expect(keptAfter!.y).toBeCloseTo(kept!.y, 6)
      const isCorner = grip[0] !== 0 && grip[1] !== 0
      if (!isCorner || after.w === 40 || after.h === 40) return
      // Sizes are whole numbers.
      const [from, to] = [card, after].map((one) => gripOf(one, card.rotation, grip))
      expect(Math.hypot(to!.x - from!.x - dx, to!.y - from!.y - dy)).toBeLessThan(1)
    }),
  )
})
