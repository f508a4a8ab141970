/**
 * The boards of a workspace as a tree, by the pattern of https://www.w3.org/WAI/ARIA/apg/patterns/treeview/. Written by
 * hand: tree libraries add 10 KB and more to the first load, and most of this is about boards.
 */
import { useState, type DragEvent, type KeyboardEvent, type ReactNode } from 'react'
import type { Workspace } from '../service/boards.ts'
import { BoardRow } from './board-row.tsx'
import { canMove, rowAfter } from './rows.ts'
import { cut, paste, trash, useTree, type TreeState } from './tree-state.ts'

export function BoardTree({ workspace }: { workspace: Workspace }): ReactNode {
  const state = useTree(workspace)
  const { rows, desk, moving } = state
  const [current, setCurrent] = useState<string | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const tabbed = [current, desk.boardId].find((id) => rows.some(({ board }) => board.id === id))
  if (rows.length === 0)
    return <p className="quiet">No board yet.{workspace.canWrite && ' Create the first one below.'}</p>
  return (
    <ul
      role="tree"
      aria-label={workspace.name}
      onKeyDown={(event) => onKey(event, state)}
      onFocus={({ target }) => setCurrent(idOf(target) ?? null)}
      onDragEnd={() => state.move(null)}
      {...dropOn(state, over, setOver)}
    >
      {rows.map((row, at) => (
        <BoardRow
          key={row.board.id}
          {...{ row, state }}
          isTabStop={tabbed === undefined ? at === 0 : row.board.id === tabbed}
          isTarget={moving !== null && over === row.board.id}
        />
      ))}
    </ul>
  )
}

const idOf = (target: EventTarget) => (target as Element).closest<HTMLElement>('[data-id]')?.dataset['id']

function onKey(event: KeyboardEvent, state: TreeState): void {
  const { rows, rename, move, moving, workspace, desk } = state
  const { target, key } = event
  const at = rows.findIndex(({ board }) => board.id === (target as HTMLElement).dataset['id'])
  const row = rows[at] // none: the key belongs to a field or a button in the row
  if (!row || event.altKey) return
  const { board } = row
  const withControl: Record<string, () => void> = workspace.canWrite
    ? { x: () => cut(state, board), v: () => void paste(state, board.id) }
    : {}
  const alone: Record<string, () => void> = {
    Enter: () => desk.open(board.id),
    ' ': () => desk.open(board.id),
    ...(workspace.canWrite && { F2: () => rename(board.id), Delete: () => void trash(state, board) }),
    ...(moving !== null && { Escape: () => move(null) }),
    ...(row.isOpen === true && { ArrowLeft: () => state.opened.toggle(board.id) }),
    ...(row.isOpen === false && { ArrowRight: () => state.opened.toggle(board.id) }),
  }
  const isControl = event.ctrlKey || event.metaKey
  const next = isControl ? null : rowAfter(rows, at, key)
  const does = isControl ? withControl[key] : (alone[key] ?? (next && (() => state.focus(next.board.id))))
  if (!does || !workspace.boards.includes(board)) return
  event.preventDefault()
  does()
}

/** Drags move a board into the one that it is dropped on. The heading of the workspace takes it to the top level. */
function dropOn(state: TreeState, over: string | null, setOver: (id: string | null) => void) {
  const { workspace, moving, move } = state
  return {
    onDragStart(event: DragEvent) {
      const id = idOf(event.target)
      if (id === undefined) return
      event.dataTransfer.effectAllowed = 'move'
      event.dataTransfer.setData(boardType(workspace.id), id)
      move(id)
    },
    onDragOver(event: DragEvent) {
      const id = idOf(event.target)
      const isPossible = id !== undefined && moving !== null && canMove(workspace.boards, moving, id)
      if (isPossible) event.preventDefault()
      if (over !== (isPossible ? id : null)) setOver(isPossible ? id : null)
    },
    onDragLeave: () => setOver(null),
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(null)
      const id = idOf(event.target)
      if (id !== undefined) void paste(state, id)
    },
  }
}

/** The type of what is dragged. It names the workspace, because boards move within theirs alone. */
export const boardType = (workspaceId: string) => `application/x-corkboard-${workspaceId}`
