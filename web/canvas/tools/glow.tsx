/** A card that a program writes glows for a moment, so that people see what happens. */
import { useEffect, useState, type ReactNode } from 'react'
import { ViewportPortal } from '@xyflow/react'
import { watchPrograms } from '../../board/program-writes.ts'
import { boxOf } from '../geometry.ts'
import { useSurface } from '../surface.ts'

const glowMs = 1600
/** A large import says enough by its cards. */
const mostAtOnce = 60

export function Glow(): ReactNode {
  const { board } = useSurface()
  const [written, setWritten] = useState<readonly string[]>([])
  useEffect(() => {
    const timers = new Set<ReturnType<typeof setTimeout>>()
    const unwatch = watchPrograms(board, (ids) => {
      setWritten((before) => [...before, ...ids.filter((id) => !before.includes(id))].slice(-mostAtOnce))
      const timer = setTimeout(() => {
        timers.delete(timer)
        setWritten((before) => before.filter((id) => !ids.includes(id)))
      }, glowMs)
      timers.add(timer)
    })
    return () => {
      unwatch()
      timers.forEach(clearTimeout)
    }
  }, [board])
  return (
    <ViewportPortal>
      {written.map((id) => {
        const card = board.cards.find(id)
        if (!card) return null
        const { x, y, w, h } = boxOf(card, card)
        return (
          <div
            key={id}
            className="glow"
            aria-hidden="true"
            style={{ transform: `translate(${x}px, ${y}px)`, width: w, height: h }}
          />
        )
      })}
    </ViewportPortal>
  )
}
