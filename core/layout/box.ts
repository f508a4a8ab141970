import { limits } from '../limits.ts'

/** A place on the canvas, in canvas units. `y` grows downwards. */
export interface Point {
  x: number
  y: number
}

export interface Size {
  w: number
  h: number
}

/** A rectangle on the canvas: top left corner and size. */
export interface Rect extends Point, Size {}

/** A rectangle that is rotated about its centre, in degrees. */
export interface Rotated extends Rect {
  rotation: number
}

/** The edges of the board, on both axes. */
export const board = { least: -limits.coordinate, most: limits.coordinate }

/** The area of a card by its edges, in whole units. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/**
 * Tolerance for rounding errors, such as that of the sine of a straight angle. A rectangle that extends into a unit by
 * less than this does not occupy the unit.
 */
const ROUNDING_SLACK = 1e-6

/**
 * Returns the smallest upright rectangle around a card that is rotated by `rotation` degrees about its centre. Its
 * edges need not be whole numbers.
 */
export function boundingBox(card: Rotated): Rect {
  const radians = (card.rotation * Math.PI) / 180
  const cos = Math.abs(Math.cos(radians))
  const sin = Math.abs(Math.sin(radians))
  const w = card.w * cos + card.h * sin
  const h = card.w * sin + card.h * cos
  return { x: card.x + (card.w - w) / 2, y: card.y + (card.h - h) / 2, w, h }
}

/** Returns the box of all units that a rectangle touches, extended by `margin` units on each side. */
export function boxAround(rect: Rect, margin: number): Box {
  return {
    left: Math.floor(rect.x + ROUNDING_SLACK) - margin,
    top: Math.floor(rect.y + ROUNDING_SLACK) - margin,
    right: Math.ceil(rect.x + rect.w - ROUNDING_SLACK) + margin,
    bottom: Math.ceil(rect.y + rect.h - ROUNDING_SLACK) + margin,
  }
}

export function union(a: Box, b: Box): Box {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  }
}

/**
 * Returns the part of a box between `least` and `most` on both axes. Undefined if that part is empty, or an edge is
 * NaN.
 */
export function clip(box: Box, least: number, most: number): Box | undefined {
  const left = Math.max(box.left, least)
  const top = Math.max(box.top, least)
  const right = Math.min(box.right, most)
  const bottom = Math.min(box.bottom, most)
  return left < right && top < bottom ? { left, top, right, bottom } : undefined
}

/** Returns `at`, moved as little as necessary to keep a block within the board. */
export function withinBoard(extent: Box, at: Point): Point {
  return {
    x: Math.max(board.least - extent.left, Math.min(at.x, board.most - extent.right)) + 0, // no -0
    y: Math.max(board.least - extent.top, Math.min(at.y, board.most - extent.bottom)) + 0,
  }
}
