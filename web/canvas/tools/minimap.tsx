/**
 * An overview of the whole board, to look and to go to a place. xyflow's own makes an element for each card that it knows, and
 * it knows those in the region alone.
 */
import { useEffect, useRef, type PointerEvent, type ReactNode } from 'react'
import { Panel, useReactFlow, useStore as useFlow, type ReactFlowState } from '@xyflow/react'
import { useCards } from '../../../client/react/index.ts'
import { boundsOf, boxOf, type Box } from '../geometry.ts'
import { useSurface } from '../surface.ts'

const width = 150
const height = 100
/** Drawing 10,000 cards takes some milliseconds. */
const redrawMs = 250
/** What is drawn keeps its colour until it is drawn again. */
const dark = matchMedia('(prefers-color-scheme: dark)')

export function MiniMap(): ReactNode {
  const cards = useCards(useSurface().board)
  return cards.length > 0 && <Overview cards={cards} />
}

function Overview({ cards }: { cards: ReturnType<typeof useCards> }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const scale = useRef<Scale>(scaleTo(null))
  const frame = useRef<HTMLDivElement>(null)
  const isDrawn = useRef(false)
  const seen = useSeen()
  const { setCenter, getZoom } = useReactFlow()
  const place = () => {
    Object.assign(frame.current!.style, placed(seen, scale.current))
  }
  useEffect(() => {
    const draw = () => {
      isDrawn.current = true
      const boxes = cards.map((card) => boxOf(card, card))
      scale.current = scaleTo(boundsOf(boxes))
      drawOn(canvas.current!, boxes, scale.current)
      place()
    }
    dark.addEventListener('change', draw)
    const timer = isDrawn.current ? setTimeout(draw, redrawMs) : undefined
    if (!isDrawn.current) draw()
    return () => {
      clearTimeout(timer)
      dark.removeEventListener('change', draw)
    }
  }, [cards])
  useEffect(place)
  const goTo = ({ currentTarget, clientX, clientY, buttons }: PointerEvent) => {
    if (buttons !== 1) return
    const { left, top } = currentTarget.getBoundingClientRect()
    const { x, y, by } = scale.current
    void setCenter(x + (clientX - left) / by, y + (clientY - top) / by, { zoom: getZoom() })
  }
  return (
    <Panel position="bottom-right" className="minimap">
      <div
        role="img"
        aria-label="Overview of the board"
        onPointerDown={goTo}
        onPointerMove={goTo}
        className="nopan"
      >
        <canvas ref={canvas} width={width * 2} height={height * 2} />
        <div ref={frame} className="seen" />
      </div>
    </Panel>
  )
}

/** The corner of the board that is drawn first, and how many pixels a unit of the board has. */
interface Scale {
  x: number
  y: number
  by: number
}

function scaleTo(all: Box | null): Scale {
  const { x, y, w, h } = all ?? { x: 0, y: 0, w: width, h: height }
  const by = Math.min(width / (w * 1.1), height / (h * 1.1))
  return { x: x + (w - width / by) / 2, y: y + (h - height / by) / 2, by }
}

function drawOn(canvas: HTMLCanvasElement, boxes: Box[], { x: left, y: top, by }: Scale): void {
  const context = canvas.getContext('2d')
  if (!context) return
  context.clearRect(0, 0, canvas.width, canvas.height)
  context.fillStyle = getComputedStyle(canvas).color
  for (const { x, y, w, h } of boxes)
    context.fillRect(
      2 * (x - left) * by,
      2 * (y - top) * by,
      Math.max(2, 2 * w * by),
      Math.max(2, 2 * h * by),
    )
}

/** What of the board is seen, as text, so that it is compared by its value. */
const seenIn = ({ transform: [x, y, zoom], width, height }: ReactFlowState) =>
  [-x / zoom, -y / zoom, width / zoom, height / zoom].map(Math.round).join(' ')

function useSeen(): Box {
  const [x, y, w, h] = useFlow(seenIn).split(' ').map(Number) as [number, number, number, number]
  return { x, y, w, h }
}

const placed = ({ x, y, w, h }: Box, scale: Scale) => ({
  transform: `translate(${(x - scale.x) * scale.by}px, ${(y - scale.y) * scale.by}px)`,
  width: `${w * scale.by}px`,
  height: `${h * scale.by}px`,
})
