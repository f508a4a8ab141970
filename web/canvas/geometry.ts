/** Boxes on the canvas. */
import type { EditorCard, Place } from '../../client/editor/index.ts'

export interface Box extends Place {
  w: number
  h: number
}

/** Where a card is shown while it is dragged, resized or turned. */
export interface Frame extends Place {
  w?: number
  h?: number
  rotation?: number
}

export type Frames = ReadonlyMap<string, Frame>
export const noFrames: Frames = new Map()

/** What a card covers, turned as it is. */
export function boxOf(card: Pick<EditorCard, 'w' | 'h' | 'rotation'>, frame: Frame): Box {
  const { x, y, w = card.w, h = card.h, rotation = card.rotation } = frame
  if (rotation === 0) return { x, y, w, h }
  const [cos, sin] = [Math.cos, Math.sin].map((of) => Math.abs(of((rotation * Math.PI) / 180)))
  const [wide, high] = [w * cos! + h * sin!, w * sin! + h * cos!]
  return { x: x + (w - wide) / 2, y: y + (h - high) / 2, w: wide, h: high }
}

/** The smallest box around others. @returns null without any */
export function boundsOf(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null
  const [ends, starts] = [
    { x: -Infinity, y: -Infinity },
    { x: Infinity, y: Infinity },
  ]
  for (const { x, y, w, h } of boxes) {
    starts.x = Math.min(starts.x, x)
    starts.y = Math.min(starts.y, y)
    ends.x = Math.max(ends.x, x + w)
    ends.y = Math.max(ends.y, y + h)
  }
  return { ...starts, w: ends.x - starts.x, h: ends.y - starts.y }
}

export const touches = (a: Box, b: Box): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

/** Degrees as the API keeps them: above -180, up to 180. */
export const wrapDegrees = (degrees: number): number => {
  const wrapped = ((degrees % 360) + 360) % 360
  return wrapped > 180 ? wrapped - 360 : wrapped
}

/** Which sides of a card a grip moves: 1 right or down, -1 left or up, 0 neither. */
export type Grip = readonly [across: -1 | 0 | 1, down: -1 | 0 | 1]

const side = { least: 40, most: 4000 }

/**
 * Resizes a card by a grip, along the card's own axes. The opposite corner, or for a grip in the middle of a side the
 * opposite side, stays where it is on the board.
 *
 * @param by how far the grip moves on the board
 */
export function resized(
  { x, y, w, h, rotation }: Box & { rotation: number },
  [across, down]: Grip,
  by: Place,
): Box {
  const turn = (rotation * Math.PI) / 180
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)]
  const within = (length: number) => Math.round(Math.min(side.most, Math.max(side.least, length)))
  const wide = across === 0 ? w : within(w + across * (by.x * cos + by.y * sin))
  const high = down === 0 ? h : within(h + down * (by.y * cos - by.x * sin))
  // The card turns around its middle, which is halfway between the grip and what stays.
  const [dx, dy] = [(across * (wide - w)) / 2, (down * (high - h)) / 2]
  const middle = { x: x + w / 2 + dx * cos - dy * sin, y: y + h / 2 + dx * sin + dy * cos }
  return { x: middle.x - wide / 2, y: middle.y - high / 2, w: wide, h: high }
}
