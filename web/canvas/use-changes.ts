/** Turns what the person does on the canvas into changes of the board. */
import { useCallback, useMemo, useRef, useState, type RefObject } from 'react'
import { useStoreApi, type NodeChange, type NodePositionChange } from '@xyflow/react'
import type { OpenBoard, Place } from '../../client/editor/index.ts'
import { noFrames, type Frame, type Frames } from './geometry.ts'
import { groupIdOf, type BoardNode } from './nodes.ts'

export interface Changes {
  own: Frames
  selected: ReadonlySet<string>
  select(ids: Iterable<string>): void
  /** Shows a card that is resized or turned, here alone. */
  preview(frames: Frames): void
  /** Shows a layout, here alone. Meanwhile cards stay where they are shown: `hasLayout`. */
  showLayout(frames: Frames): void
  hasLayout: boolean
  onNodesChange(changes: NodeChange<BoardNode>[]): void
}

type Selected = ReadonlySet<string>

interface Dragging {
  /** The node under the pointer, and where it was. */
  nodeId: string
  from: Place
  /** All cards that move with it, and where they were. */
  cards: ReadonlyMap<string, Place>
}

/**
 * A drag is shown here at once, to others by awareness, and written when it ends: each position that is written stays in
 * the document's history.
 *
 * @param nodes the nodes that are shown
 */
export function useChanges(board: OpenBoard, nodes: RefObject<BoardNode[]>): Changes {
  const [own, preview] = useState(noFrames)
  const [layout, showLayout] = useState(noFrames)
  const { selected, chosen, select, onSelect } = useSelected(nodes)
  const drag = useRef<Dragging | null>(null)
  const onNodesChange = useCallback(
    (changes: NodeChange<BoardNode>[]) => {
      onSelect(changes)
      const moved = changes.find(isMove)
      if (!moved) return
      const placeOf = (id: string) => nodes.current.find((node) => node.id === id)?.position
      drag.current ??= beginDrag(board, moved.id, placeOf(moved.id) ?? moved.position!, chosen.current)
      const frames = movedTo(drag.current, changes.filter(isMove))
      const isOver = moved.dragging === false
      if (isOver) write(board, frames)
      board.showDrag(isOver ? null : frames)
      preview(isOver ? noFrames : frames)
      if (isOver) drag.current = null
    },
    [board, nodes, onSelect, chosen],
  )
  return useMemo(() => {
    const hasLayout = layout.size > 0
    return { own: hasLayout ? layout : own, selected, select, preview, showLayout, hasLayout, onNodesChange }
  }, [own, layout, selected, select, onNodesChange])
}

const isMove = (change: NodeChange<BoardNode>): change is NodePositionChange =>
  change.type === 'position' && change.dragging !== undefined && change.position !== undefined

/** What moves with a node: the cards of a group, the whole selection, or the card alone. */
function beginDrag(board: OpenBoard, nodeId: string, { x, y }: Place, selected: Selected): Dragging {
  const groupId = groupIdOf(nodeId)
  const ids = groupId === null ? (selected.has(nodeId) ? selected : [nodeId]) : membersOf(board, groupId)
  const cards = [...ids].flatMap((id) => board.cards.find(id) ?? [])
  return { nodeId, from: { x, y }, cards: new Map(cards.map((card) => [card.id, { x: card.x, y: card.y }])) }
}

export const membersOf = (board: OpenBoard, groupId: string): string[] =>
  board.cards.get().flatMap((card) => (card.group_id === groupId ? [card.id] : []))

function movedTo({ nodeId, from, cards }: Dragging, moves: NodePositionChange[]): Frames {
  const { x, y } = (moves.find(({ id }) => id === nodeId) ?? moves[0]!).position!
  return new Map([...cards].map(([id, place]) => [id, { x: place.x + x - from.x, y: place.y + y - from.y }]))
}

function useSelected(nodes: RefObject<BoardNode[]>) {
  const store = useStoreApi()
  const [selected, setSelected] = useState<Selected>(new Set())
  /** The same, for changes that come before the next render. */
  const chosen = useRef(selected)
  const select = useCallback((ids: Iterable<string>) => {
    chosen.current = new Set(ids)
    setSelected(chosen.current)
  }, [])
  const onSelect = useCallback(
    (changes: NodeChange<BoardNode>[]) => {
      const selections = changes.filter((change) => change.type === 'select')
      if (selections.length === 0) return
      // xyflow knows the cards in the region. Others are not selected any more, unless this adds to the selection.
      const shown = new Set(nodes.current.map(({ id }) => id))
      const adds = store.getState().multiSelectionActive
      const after = new Set([...chosen.current].filter((id) => adds || shown.has(id)))
      for (const { id, selected } of selections) {
        if (selected) after.add(id)
        else after.delete(id)
      }
      select(after)
    },
    [nodes, select, store],
  )
  return { selected, chosen, select, onSelect }
}

/**
 * Writes what has changed, as one step of undo.
 *
 * @param before where the cards were at first. What is the same now is not written: somebody else may have changed it
 */
export function write(board: OpenBoard, frames: Frames, before: Frames = noFrames): void {
  const changed = [...frames].flatMap(([id, frame]) => {
    const card = board.cards.find(id)
    const fields = (Object.entries(frame) as [keyof Frame, number][])
      .filter(([name, value]) => before.get(id)?.[name] !== value)
      .map(([name, value]) => [name, Math.round(value)] as const)
      .filter(([name, value]) => Number.isFinite(value) && card?.[name] !== value)
    return fields.length > 0 ? [[id, Object.fromEntries(fields)] as const] : []
  })
  if (changed.length === 0) return
  board.newStep()
  board.transact(() => {
    for (const [id, fields] of changed) board.cards.change(id, fields)
  })
}
