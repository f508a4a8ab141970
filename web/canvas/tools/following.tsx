/** Shows the others what this window sees, and follows the view of one of them. */
import { useCallback, useEffect, type ReactNode } from 'react'
import { useOnViewportChange, useReactFlow, useStoreApi } from '@xyflow/react'
import { usePeople } from '../../../client/react/index.ts'
import { nameOf, whoIs } from '../../board/people.ts'
import { isRecord, placeOf } from '../../board/values.ts'
import { zooms } from '../view.ts'
import { useSurface } from '../surface.ts'
import { Notice } from './notice.tsx'

interface FollowingProps {
  /** The account that is followed. */
  following: string | null
  follow(who: string | null): void
}

export function Following({ following, follow }: FollowingProps): ReactNode {
  const { board } = useSurface()
  const store = useStoreApi()
  const { setCenter, getZoom } = useReactFlow()
  useShownView(following === null)
  const person = usePeople(board).find((one) => following !== null && !one.isMe && whoIs(one) === following)
  const view = viewOf(person?.state['view'])
  const cursor = placeOf(person?.state['cursor'])
  const [x, y] = [view?.x ?? cursor?.x, view?.y ?? cursor?.y]
  const [w, h] = [view?.w, view?.h]
  useEffect(() => {
    if (x === undefined || y === undefined) return
    const { width, height } = store.getState()
    const zoom = w === undefined || h === undefined ? getZoom() : Math.min(width / w, height / h)
    void setCenter(x, y, { zoom: Math.min(zooms.max, Math.max(zooms.min, zoom)) })
  }, [x, y, w, h, setCenter, getZoom, store])
  // Who moves the own view has a reason to. A program moves it without an event.
  useEffect(() => {
    const canvas = store.getState().domNode
    if (following === null || !canvas) return
    const stop = () => follow(null)
    // Before xyflow, which lets nobody else have the wheel.
    for (const type of ['wheel', 'pointerdown'] as const) canvas.addEventListener(type, stop, true)
    return () => {
      for (const type of ['wheel', 'pointerdown'] as const) canvas.removeEventListener(type, stop, true)
    }
  }, [following, follow, store])
  const isGone = following !== null && person === undefined
  useEffect(() => {
    if (isGone) follow(null)
  }, [isGone, follow])
  return person && <Notice says={`Following ${nameOf(person)}`} button="Stop" close={() => follow(null)} />
}

/** The middle of a view, and its size. */
function viewOf(value: unknown) {
  const place = placeOf(value)
  const { w, h } = isRecord(value) ? value : {}
  return place && isPositive(w) && isPositive(h) ? { ...place, w, h } : null
}

const isPositive = (value: unknown): value is number => Number.isFinite(value) && (value as number) > 0

/** Who follows shows no view. Two people who follow each other would zoom out for ever. */
function useShownView(isShown: boolean): void {
  const { board } = useSurface()
  const store = useStoreApi()
  const showView = useCallback(() => {
    if (!isShown) return board.show({ view: null })
    const { transform, width, height } = store.getState()
    const [left, top, zoom] = transform
    const [w, h] = [width / zoom, height / zoom]
    board.show({ view: { x: Math.round(w / 2 - left / zoom), y: Math.round(h / 2 - top / zoom), w, h } })
  }, [board, store, isShown])
  useEffect(showView, [showView])
  useOnViewportChange({ onChange: showView })
}
