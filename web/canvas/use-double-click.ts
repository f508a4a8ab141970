/** Double clicks whose first click was for something else, such as a button that is gone now, do nothing on the canvas. */
import { useCallback, useEffect, useRef, type MouseEvent } from 'react'

const isOnCanvas = ({ target }: Event) =>
  target instanceof Element && target.closest('.react-flow__pane') !== null

/** @returns a listener for `onDoubleClickCapture` */
export function useDoubleClick(): (event: MouseEvent) => void {
  /** Whether the last two presses were on the canvas. */
  const presses = useRef([false, false])
  useEffect(() => {
    const onPress = (event: Event) => {
      presses.current = [presses.current[1]!, isOnCanvas(event)]
    }
    addEventListener('pointerdown', onPress, true)
    return () => removeEventListener('pointerdown', onPress, true)
  }, [])
  return useCallback((event) => {
    if (presses.current.includes(false)) event.stopPropagation()
  }, [])
}
