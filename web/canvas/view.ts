/** What of the board is seen: the region for which there are nodes, and fitting the view to cards. */
import { useCallback, useMemo } from 'react'
import {
  getViewportForBounds,
  useReactFlow,
  useStore as useFlow,
  useStoreApi,
  type ReactFlowState,
  type Viewport,
} from '@xyflow/react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { boundsOf, boxOf, type Box } from './geometry.ts'

export const zooms = { min: 0.05, max: 2 }
/** Tools are at the top and at the bottom. */
const padding = { x: '32px', top: '72px', bottom: '88px' } as const
/** A larger board begins with a part of it, because so many cards take long to draw. */
const mostAtOnce = 600

export interface Size {
  width: number
  height: number
}

function viewportOn(box: Box | null, { width, height }: Size): Viewport {
  const bounds = box ? { x: box.x, y: box.y, width: box.w, height: box.h } : { x: 0, y: 0, width, height }
  return getViewportForBounds(bounds, width, height, zooms.min, 1, padding)
}

export const allOf = (board: OpenBoard): Box | null =>
  boundsOf(board.cards.get().map((card) => boxOf(card, card)))

/** How a board is shown first: all of it, or the beginning of a large one. */
export function firstView(board: OpenBoard, size: Size): Viewport {
  const all = allOf(board)
  if (!all || board.cards.get().length <= mostAtOnce) return viewportOn(all, size)
  return viewportOn({ ...all, w: size.width * 2, h: size.height * 2 }, size)
}

/** @returns a function that shows a box of the board; without one, the whole board */
export function useFit(board: OpenBoard): (box?: Box) => void {
  const { setViewport } = useReactFlow()
  const store = useStoreApi()
  return useCallback(
    (box) => {
      const { width, height } = store.getState()
      void setViewport(viewportOn(box ?? allOf(board), { width, height }))
    },
    [board, setViewport, store],
  )
}

/**
 * A box around what is seen, in steps of an eighth of the screen, so that it changes seldom while one pans and zooms.
 *
 * @param first the view until xyflow has one
 */
export function useRegion(first: Viewport & Size): Box {
  const key = useFlow(
    useCallback(
      (state: ReactFlowState) => {
        const { transform, width, height } = state
        if (width === 0) return regionKey([first.x, first.y, first.zoom], first)
        return regionKey(transform, { width, height })
      },
      [first],
    ),
  )
  return useMemo(() => {
    const [x, y, w, h] = key.split(' ').map(Number) as [number, number, number, number]
    return { x, y, w, h }
  }, [key])
}

function regionKey([left, top, zoom]: readonly number[], { width, height }: Size): string {
  // The same for all zooms between two powers of two.
  const coarse = 2 ** Math.floor(Math.log2(zoom!))
  const along = (from: number, length: number) => {
    const step = length / coarse / 8
    const start = Math.floor(-from / zoom! / step - 0.5) * step
    const end = Math.ceil((length - from) / zoom! / step + 0.5) * step
    return [start, end - start] as const
  }
  const [[x, w], [y, h]] = [along(left!, width), along(top!, height)]
  return [x, y, w, h].join(' ')
}

/** Whether cards are too small to read. */
export const useIsFar = (): boolean => useFlow(({ transform }) => transform[2] < 0.15)
