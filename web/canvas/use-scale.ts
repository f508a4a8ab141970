import { useStore } from '@xyflow/react'

const [least, most] = [0.125, 2]

/** The zoom, in steps of doubling: few cards are drawn anew while one zooms. Never less than the zoom itself. */
export const useScale = (): number =>
  useStore(({ transform: [, , zoom] }) => Math.min(most, Math.max(least, 2 ** Math.ceil(Math.log2(zoom)))))
