/** A row of the tree of boards. */
import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { placeFor } from '../controls/menu.tsx'
import type { ListedBoard } from '../service/boards.ts'
import { PeopleHere } from './people-here.tsx'
import type { Row } from './rows.ts'
import type { TreeState } from './tree-state.ts'

interface RowProps {
  row: Row
  state: TreeState
  /** One row of a tree can be reached by the Tab key. Arrow keys lead to the others. */
  isTabStop: boolean
  /** What is dragged would be dropped here. */
  isTarget: boolean
}

export function BoardRow({ row, state, isTabStop, isTarget }: RowProps): ReactNode {
  const { board, level, place, siblings, isOpen } = row
  const { desk, opened, renaming, moving } = state
  const { canWrite } = state.workspace
  const isCurrent = board.id === desk.boardId
  const name = `board-${board.id}`
  return (
    <li
      role="treeitem"
      data-id={board.id}
      aria-labelledby={name}
      aria-describedby={`${name}-people`}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isOpen ?? undefined}
      aria-current={isCurrent ? 'page' : undefined}
      tabIndex={isTabStop ? 0 : -1}
      className={[moving === board.id && 'moving', isTarget && 'target'].filter(Boolean).join(' ')}
      style={{ '--level': Math.min(level, deepestIndent) - 1 }}
      draggable={canWrite && renaming !== board.id}
      onContextMenu={(event) => canWrite && showMenu(event, state, board)}
    >
      {isOpen === null ? (
        <span className="twist" />
      ) : (
        // Arrow keys do the same for the keyboard.
        <button
          type="button"
          className="twist"
          tabIndex={-1}
          aria-hidden="true"
          data-open={isOpen}
          onClick={() => opened.toggle(board.id)}
        />
      )}
      {renaming === board.id ? <Rename {...{ board, state }} /> : <BoardLink {...{ board, name, desk }} />}
      <PeopleHere boardId={board.id} id={`${name}-people`} />
      {canWrite && (
        <button
          type="button"
          className="more"
          tabIndex={-1}
          aria-label={`Actions for ${board.name}`}
          aria-haspopup="menu"
          onClick={(event) => showMenu(event, state, board)}
        >
          ⋯
        </button>
      )}
    </li>
  )
}

const deepestIndent = 6

function showMenu(event: MouseEvent, state: TreeState, board: ListedBoard): void {
  event.preventDefault()
  const at = placeFor(event, event.currentTarget)
  state.desk.show(async () => {
    const { BoardMenu } = await import('./board-menu.tsx')
    return ({ close }) => <BoardMenu {...{ board, state, at, close }} />
  })
}

interface LinkProps {
  board: ListedBoard
  name?: string
  desk: TreeState['desk']
}

export function BoardLink({ board, name, desk }: LinkProps): ReactNode {
  return (
    <a
      id={name}
      href={desk.addressOf(board.id)}
      tabIndex={name === undefined ? 0 : -1}
      draggable={false}
      aria-current={board.id === desk.boardId ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return // a new tab or window
        event.preventDefault()
        desk.open(board.id)
      }}
    >
      {board.name}
    </a>
  )
}

function Rename({ board, state }: { board: ListedBoard; state: TreeState }): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  // Meanwhile somebody else may rename the board.
  const [before] = useState(board.name)
  useEffect(() => {
    field.current!.focus()
    field.current!.select()
  }, [])
  const end = (isKept: boolean) => {
    const name = field.current!.value.trim()
    if (isKept && name !== '' && name !== before) void state.actions.rename(board.id, name)
    state.rename(null)
  }
  return (
    <input
      ref={field}
      aria-label={`Name of ${board.name}`}
      defaultValue={before}
      maxLength={200}
      onBlur={() => end(true)}
      onKeyDown={({ key }) => {
        if (key !== 'Enter' && key !== 'Escape') return
        if (key === 'Escape') field.current!.value = before
        state.focus(board.id) // which ends it
      }}
    />
  )
}
