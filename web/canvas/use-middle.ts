import { useStoreApi } from '@xyflow/react'
import type { Place } from '../../client/editor/index.ts'

/** @returns a function that returns the middle of the canvas on the screen */
export function useMiddle(): () => Place {
  const flow = useStoreApi()
  return () => {
    const { left, top, width, height } = flow.getState().domNode!.getBoundingClientRect()
    return { x: left + width / 2, y: top + height / 2 }
  }
}
