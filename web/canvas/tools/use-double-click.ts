/** Double clicks whose first click was for something else, such as a button that is gone now, do nothing on the canvas. */
import { useEffect } from 'react'

const isOnCanvas = ({ target }: Event) =>
  target instanceof Element && target.closest('.react-flow__pane') !== null

export function useDoubleClick(): void {
  useEffect(() => {
    /** Whether the last two presses were on the canvas. */
    let presses = [true, true]
    const onPress = (event: Event) => {
      presses = [presses[1]!, isOnCanvas(event)]
    }
    // Before React's listener, which adds a card.
    const onDoubleClick = (event: Event) => {
      if (isOnCanvas(event) && presses.includes(false)) event.stopPropagation()
    }
    addEventListener('pointerdown', onPress, true)
    addEventListener('dblclick', onDoubleClick, true)
    return () => {
      removeEventListener('pointerdown', onPress, true)
      removeEventListener('dblclick', onDoubleClick, true)
    }
  }, [])
}
