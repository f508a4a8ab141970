/** On a touch screen, a long press on a card adds it to the selection, or takes it out. */
import { useEffect, useRef } from 'react'
import { useStoreApi } from '@xyflow/react'
import { useSurface } from '../surface.ts'

const longMs = 500
/** A finger is never quite still. */
const stillPx = 10

export function useLongPress(selected: ReadonlySet<string>): void {
  const { select } = useSurface()
  const store = useStoreApi()
  const now = useRef(selected)
  now.current = selected
  useEffect(() => {
    const canvas = store.getState().domNode
    if (!canvas) return
    return onLongPress(canvas, (id) => {
      const others = [...now.current].filter((one) => one !== id)
      select(now.current.has(id) ? others : [...others, id])
    })
  }, [select, store])
}

/** @returns a function that ends it */
function onLongPress(canvas: HTMLElement, act: (cardId: string) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let from = { x: 0, y: 0 }
  /** Whether the press was long. The click at its end would select this card alone. */
  let wasLong = false
  const end = () => clearTimeout(timer)
  const stop = (event: Event) => {
    if (!wasLong) return
    event.preventDefault()
    event.stopPropagation()
  }
  const listeners = {
    pointerdown({ pointerType, target, clientX: x, clientY: y }: PointerEvent) {
      end()
      wasLong = false
      const id = (target as Element).closest<HTMLElement>('.react-flow__node-card')?.dataset['id']
      if (pointerType !== 'touch' || id === undefined) return
      from = { x, y }
      timer = setTimeout(() => {
        wasLong = true
        act(id)
      }, longMs)
    },
    pointermove({ clientX: x, clientY: y }: PointerEvent) {
      if (Math.hypot(x - from.x, y - from.y) > stillPx) end()
    },
    ...{ pointerup: end, pointercancel: end, click: stop, contextmenu: stop },
  }
  const entries = Object.entries(listeners) as [string, EventListener][]
  for (const [type, listener] of entries) canvas.addEventListener(type, listener, true)
  return () => {
    end()
    for (const [type, listener] of entries) canvas.removeEventListener(type, listener, true)
  }
}
