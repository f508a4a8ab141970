/**
 * The handles of a selected card: eight grips that resize it, and one above it that turns it. They are turned as the card
 * is. (xyflow's own grips know no turned nodes.) By keyboard, Ctrl with the arrow keys resizes, and `,` and `.` turn.
 */
import { useEffect, useRef, type PointerEvent, type ReactNode } from 'react'
import { useReactFlow, useStore as useFlow } from '@xyflow/react'
import type { Place } from '../../client/editor/index.ts'
import { noFrames, resized, wrapDegrees, type Frame, type Grip } from './geometry.ts'
import { useSurface } from './surface.ts'
import { write } from './use-changes.ts'

/** Sides first, so that the corners are above them. */
const grips: Grip[] = [
  ...([
    [0, -1],
    [1, 0],
    [0, 1],
    [-1, 0],
  ] as const),
  ...([
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ] as const),
]

export function Handles({ id, rotation }: { id: string; rotation: number }): ReactNode {
  const { board } = useSurface()
  const { screenToFlowPosition } = useReactFlow()
  // They are no smaller on the screen when the board is far away.
  const grow = useFlow(({ transform: [, , zoom] }) => Math.max(1, 1 / zoom))
  const handle = useHandle(id)
  const placeOf = ({ clientX: x, clientY: y }: PointerEvent) => screenToFlowPosition({ x, y })
  const beginResize = (grip: Grip, event: PointerEvent) => {
    const [card, from] = [board.cards.find(id), placeOf(event)]
    return (now: PointerEvent) => card && resized(card, grip, between(from, placeOf(now)))
  }
  const beginTurn = () => {
    const card = board.cards.find(id)
    return (now: PointerEvent) => card && { x: card.x, y: card.y, rotation: degreesTo(now) }
  }
  return (
    <div
      className="handles nodrag nopan"
      style={{ rotate: `${rotation}deg`, '--grow': grow }}
      aria-hidden="true"
    >
      {grips.map((grip) => (
        <span
          key={grip.join(' ')}
          className="grip"
          data-along={grip[0] === 0 ? 'x' : grip[1] === 0 ? 'y' : undefined}
          style={{ '--across': grip[0], '--down': grip[1], cursor: cursorOf(grip, rotation) }}
          {...handle((event) => beginResize(grip, event))}
        />
      ))}
      <span className="turn" {...handle(beginTurn)} />
    </div>
  )
}

const between = (from: Place, to: Place): Place => ({ x: to.x - from.x, y: to.y - from.y })

/** Where the card is, while the pointer drags a handle. */
type Dragged = (event: PointerEvent) => Frame | undefined

/** @returns makes the listeners of a handle. What it does to the card is shown here, and written when it ends */
function useHandle(id: string) {
  const { board, preview } = useSurface()
  const drag = useRef<Dragged | null>(null)
  const before = useRef(noFrames)
  const last = useRef(noFrames)
  const end = (isKept: boolean) => {
    if (drag.current === null) return
    if (isKept) write(board, last.current, before.current)
    drag.current = null
    last.current = noFrames
    preview(noFrames)
  }
  // The card may go while it is dragged.
  useEffect(
    () => () => {
      if (drag.current) preview(noFrames)
    },
    [preview],
  )
  return (begin: (event: PointerEvent) => Dragged) => ({
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      event.stopPropagation()
      event.currentTarget.setPointerCapture(event.pointerId)
      const card = board.cards.find(id)
      before.current = card ? new Map([[id, card]]) : noFrames
      drag.current = begin(event)
    },
    onPointerMove(event: PointerEvent) {
      const frame = drag.current?.(event)
      if (!frame) return
      last.current = new Map([[id, frame]])
      preview(last.current)
    },
    onPointerUp: () => end(true),
    onPointerCancel: () => end(false),
  })
}

const stepDegrees = 15

/** The direction from the middle of the card's node to the pointer. Up is 0. */
function degreesTo({ currentTarget, clientX, clientY, shiftKey }: PointerEvent): number {
  const { left, top, width, height } = currentTarget.closest('.react-flow__node')!.getBoundingClientRect()
  const radians = Math.atan2(clientX - left - width / 2, top + height / 2 - clientY)
  const step = shiftKey ? stepDegrees : 1
  return wrapDegrees(Math.round((radians * 180) / Math.PI / step) * step)
}

const cursors = ['ns', 'nesw', 'ew', 'nwse']

/** The cursor for the direction in which a grip moves, turned as the card is. */
function cursorOf([across, down]: Grip, rotation: number): string {
  const degrees = (Math.atan2(across, -down) * 180) / Math.PI + rotation
  return `${cursors[((Math.round(degrees / 45) % 4) + 4) % 4]!}-resize`
}
