/** Places new cards side by side, in rows. */

export interface Place {
  x: number
  y: number
}

export interface Frame extends Place {
  w: number
  h: number
}

const gap = 20
const longestRow = 1600

/** @param at where the middle of the first one is */
export function sideBySide(sizes: readonly Pick<Frame, 'w' | 'h'>[], at: Place): Frame[] {
  const [first] = sizes
  if (!first) return []
  const left = Math.round(at.x - first.w / 2)
  let [x, y, rowHeight] = [left, Math.round(at.y - first.h / 2), 0]
  return sizes.map(({ w, h }) => {
    if (x > left && x + w > left + longestRow) [x, y, rowHeight] = [left, y + rowHeight + gap, 0]
    const frame = { x, y, w, h }
    x += w + gap
    rowHeight = Math.max(rowHeight, h)
    return frame
  })
}
