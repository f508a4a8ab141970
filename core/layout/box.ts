/** A rectangle on the canvas: top left corner and size in canvas units, y growing downwards. */
export interface Rect {
  x: number
  y: number
  w: number
  h: number
}

/** What a card takes up, by its edges, in whole units. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/**
 * The sine of a straight angle is off by 1e-16: what sticks out by less than this takes up no further unit.
 */
const ROUNDING_SLACK = 1e-6

/**
 * The smallest upright rectangle around a card that is turned by `rotation` degrees about its centre. Its
 * edges need not be whole numbers.
 */
export function boundingBox(card: Rect & { rotation: number }): Rect {
  const radians = (card.rotation * Math.PI) / 180
  const cos = Math.abs(Math.cos(radians))
  const sin = Math.abs(Math.sin(radians))
  const w = card.w * cos + card.h * sin
  const h = card.w * sin + card.h * cos
  return { x: card.x + (card.w - w) / 2, y: card.y + (card.h - h) / 2, w, h }
}

/** The whole units that a rectangle touches, with `margin` units more on each side. */
export function boxAround(rect: Rect, margin: number): Box {
  return {
    left: Math.floor(rect.x + ROUNDING_SLACK) - margin,
    top: Math.floor(rect.y + ROUNDING_SLACK) - margin,
    right: Math.ceil(rect.x + rect.w - ROUNDING_SLACK) + margin,
    bottom: Math.ceil(rect.y + rect.h - ROUNDING_SLACK) + margin,
  }
}

/** The smallest box that holds both. */
export function union(a: Box, b: Box): Box {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  }
}

/**
 * What of a box lies between `least` and `most` on both axes; undefined if nothing does, or an edge is not a
 * number.
 */
export function clip(box: Box, least: number, most: number): Box | undefined {
  const left = Math.max(box.left, least)
  const top = Math.max(box.top, least)
  const right = Math.min(box.right, most)
  const bottom = Math.min(box.bottom, most)
  return left < right && top < bottom ? { left, top, right, bottom } : undefined
}
