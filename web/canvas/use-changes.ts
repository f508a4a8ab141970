/** Turns what the person does on the canvas into changes of the board. */
import { useCallback, useRef, useState } from 'react'
import type { NodeChange } from '@xyflow/react'
import type { OpenBoard } from '../board/board.ts'
import type { BoardNode, Frame } from './nodes.ts'

type Frames = ReadonlyMap<string, Frame>
const nothing: Frames = new Map()

export interface Changes {
  own: Frames
  selected: ReadonlySet<string>
  select(ids: Iterable<string>): void
  onNodesChange(changes: NodeChange<BoardNode>[]): void
}

/**
 * A drag and a resizing are shown here at once, a drag to others by awareness, and both are written when they end: each
 * position that is written stays in the document's history.
 */
export function useChanges(board: OpenBoard): Changes {
  const [own, setOwn] = useState(nothing)
  const shown = useRef(nothing)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const onNodesChange = useCallback(
    (changes: NodeChange<BoardNode>[]) => {
      setSelected((before) => selectedAfter(before, changes))
      const { moving, ended } = framesOf(changes, (id) => shown.current.get(id) ?? board.cards.find(id))
      if (moving.size === 0 && ended.size === 0) return
      if (moving.size > 0) board.showDrag(moving)
      if (ended.size > 0) {
        write(board, ended)
        board.showDrag(null)
      }
      shown.current = moving.size > 0 ? new Map([...shown.current, ...moving]) : nothing
      setOwn(shown.current)
    },
    [board],
  )
  const select = useCallback((ids: Iterable<string>) => setSelected(new Set(ids)), [])
  return { own, selected, select, onNodesChange }
}

/** @param placeOf where a card is shown now */
function framesOf(changes: NodeChange<BoardNode>[], placeOf: (id: string) => Frame | undefined) {
  const moving = new Map<string, Frame>()
  const ended = new Map<string, Frame>()
  for (const change of changes) {
    if (change.type === 'position' && change.position) {
      // A resizing that moves the card says nothing of dragging. It ends with a change of the size.
      const into = change.dragging === false ? ended : moving
      into.set(change.id, change.position)
    } else if (change.type === 'dimensions' && change.resizing !== undefined && change.dimensions) {
      const into = change.resizing ? moving : ended
      const place = into.get(change.id) ?? placeOf(change.id)
      const { width: w, height: h } = change.dimensions
      if (place) into.set(change.id, { x: place.x, y: place.y, w, h })
    }
  }
  return { moving, ended }
}

function selectedAfter(before: ReadonlySet<string>, changes: NodeChange<BoardNode>[]): ReadonlySet<string> {
  const chosen = changes.filter((change) => change.type === 'select')
  if (chosen.length === 0) return before
  const after = new Set(before)
  for (const { id, selected } of chosen) {
    if (selected) after.add(id)
    else after.delete(id)
  }
  return after
}

/** Writes what has changed, as one step of undo. */
function write(board: OpenBoard, frames: Frames): void {
  const changed = [...frames].flatMap(([id, frame]) => {
    const card = board.cards.find(id)
    const fields = Object.entries(frame).filter(
      ([name, value]) => value !== undefined && card?.[name] !== Math.round(value as number),
    )
    return fields.length > 0 ? [[id, Object.fromEntries(fields)] as const] : []
  })
  if (changed.length > 0)
    board.transact(() => {
      for (const [id, fields] of changed) board.cards.change(id, fields)
    })
}
