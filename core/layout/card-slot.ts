/** Computes the size and position of a card in the slot that a layout gives it. */
import { limits } from '../limits.ts'
import { clamp } from '../card-values.ts'
import type { LayoutCard, CardPlace } from './arrangement.ts'
import { boundingBox, type Rect, type Size } from './box.ts'

const { min, max } = limits.cardSize
export const clampSide = (side: number) => clamp(side, min, max)

export const isUpright = ({ rotation }: { rotation: number }) => rotation % 180 === 0

/** True for cards with a picture. They keep their proportions, because stretching would distort the picture. */
export const showsPicture = ({ kind }: { kind: string }) => kind === 'image' || kind === 'video'

export function outlineOf({ rotation }: { rotation: number }, { w, h }: Size): Size {
  return boundingBox({ x: 0, y: 0, w, h, rotation })
}

/** Returns a card's own size, in whole units. */
export const ownSize = ({ w, h }: Size): Size => ({
  w: clampSide(Math.round(w)),
  h: clampSide(Math.round(h)),
})

/** Returns the smallest and the largest scale at which a card stays within the limits on sizes. */
export const scaleBounds = ({ w, h }: Size) => ({ least: min / Math.min(w, h), most: max / Math.max(w, h) })

/**
 * Returns the slot that a card of this size needs. A rotated card needs one unit more on each axis, because its
 * position is rounded and the edges of its outline are not whole numbers.
 */
export function slotFor(card: LayoutCard, size: Size): Size {
  if (isUpright(card)) return size
  const { w, h } = outlineOf(card, size)
  return { w: Math.ceil(w - 1e-6) + 1, h: Math.ceil(h - 1e-6) + 1 }
}

/**
 * Returns the largest size at which a card fits into `room` with its proportions. If its shorter side would be below
 * the minimum, it gets the minimum and the longer side is shortened. For a rotated card `room` is at least 60 by 60.
 */
export function fitInto(card: LayoutCard, room: Size): Size {
  const free = isUpright(card) ? room : { w: room.w - 1, h: room.h - 1 }
  const outline = outlineOf(card, card)
  const { least, most } = scaleBounds(card)
  const scale = Math.min(free.w / outline.w, free.h / outline.h, most)
  const round = isUpright(card) ? Math.round : Math.floor
  const whole = (side: number) => clampSide(round(side + 1e-6))
  if (scale >= least) {
    if (!isUpright(card) || scale === most) return { w: whole(card.w * scale), h: whole(card.h * scale) }
    // One side equals that of the room, and only the other side is rounded. So a second fit gives the same size.
    const h = round((card.h * room.w) / card.w + 1e-6)
    return h <= room.h
      ? { w: whole(room.w), h: whole(h) }
      : { w: whole((card.w * room.h) / card.h), h: whole(room.h) }
  }
  const radians = (card.rotation * Math.PI) / 180
  const [along, across] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))]
  const lies = card.w >= card.h
  const [onW, onH] = lies ? [along, across] : [across, along] // length of a unit of the longer side on each axis
  const longer = whole(
    Math.min(
      onW > 1e-9 ? (free.w - min * onH) / onW : Infinity,
      onH > 1e-9 ? (free.h - min * onW) / onH : Infinity,
    ),
  )
  return lies ? { w: longer, h: min } : { w: min, h: longer }
}

/** Places a card of this size into a slot. A rotated card is centred. */
export function placeIn(card: LayoutCard, size: Size, slot: Rect): CardPlace {
  if (isUpright(card)) return { id: card.id, x: slot.x, y: slot.y, ...size }
  return {
    id: card.id,
    x: Math.round(slot.x + (slot.w - size.w) / 2) + 0, // no -0
    y: Math.round(slot.y + (slot.h - size.h) / 2) + 0,
    ...size,
  }
}
