/** The actions for a board of the tree. */
import type { ReactNode } from 'react'
import { ActionMenu, type Action, type At } from '../controls/menu.tsx'
import type { ListedBoard } from '../service/boards.ts'
import { cut, trash, type TreeState } from './tree-state.ts'

interface MenuProps {
  board: ListedBoard
  state: TreeState
  at: At
  close(): void
}

export const BoardMenu = ({ board, state, at, close }: MenuProps): ReactNode => (
  <ActionMenu label={`Actions for ${board.name}`} actions={actionsFor(board, state)} {...{ at, close }} />
)

function actionsFor(board: ListedBoard, state: TreeState): Action[] {
  const { actions, rename, opened, desk } = state
  const createInside = async () => {
    const made = await actions.create('New board', board.id)
    if (!made) return
    opened.add([board.id])
    rename(made.id)
  }
  return [
    { label: 'Rename', key: 'F2', does: () => rename(board.id) },
    { label: 'New board inside', does: () => void createInside() },
    {
      label: 'Move to…',
      does: () =>
        desk.show(async () => {
          const { MoveBoard } = await import('./panels/move-board.tsx')
          return ({ close }) => <MoveBoard {...{ board, workspaceId: state.workspace.id, opened, close }} />
        }),
    },
    { label: 'Cut', key: 'Control+X', does: () => cut(state, board) },
    { label: 'Move to the trash', key: 'Delete', does: () => void trash(state, board) },
  ]
}
