import { useEffect, useRef } from 'react'
import { useReactFlow, useStore as useFlow } from '@xyflow/react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { firstView } from './view.ts'

/**
 * When a panel or the window changes the room of the canvas, what was in its middle stays there. A view that nobody has
 * changed is made anew for the room that there is.
 */
export function useKeepMiddle(board: OpenBoard): void {
  const { getViewport, setViewport } = useReactFlow()
  const [width, height] = [useFlow((state) => state.width), useFlow((state) => state.height)]
  const before = useRef({ width, height })
  useEffect(() => {
    const { width: wide, height: high } = before.current
    before.current = { width, height }
    if (wide === 0 || width === 0 || (wide === width && high === height)) return
    const { x, y, zoom } = getViewport()
    const first = firstView(board, { width: wide, height: high })
    const isFirst = Math.hypot(first.x - x, first.y - y) < 1 && Math.abs(first.zoom - zoom) < 0.001
    void setViewport(
      isFirst
        ? firstView(board, { width, height })
        : { x: x + (width - wide) / 2, y: y + (height - high) / 2, zoom },
    )
  }, [board, width, height, getViewport, setViewport])
}
