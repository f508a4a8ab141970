/** The state of a tree of boards, and moving boards in it. */
import { useEffect, useRef, useState } from 'react'
import type { ListedBoard, Workspace } from '../service/boards.ts'
import { useDesk, type Desk } from './desk.ts'
import { aboveOf, canMove, rowsOf, type Row } from './rows.ts'
import { useActions, type BoardActions } from './use-actions.ts'
import { useOpened, type Opened } from './use-opened.ts'

/** A tree, and what a person is about to do in it. */
export interface TreeState {
  workspace: Workspace
  rows: Row[]
  opened: Opened
  actions: BoardActions
  desk: Desk
  /** The board that is renamed. */
  renaming: string | null
  rename(id: string | null): void
  /** The board that was cut, or is dragged. */
  moving: string | null
  move(id: string | null): void
  focus(id: string): void
}

export function useTree(workspace: Workspace): TreeState {
  const desk = useDesk()
  const opened = useOpened(workspace.id)
  const actions = useActions(workspace)
  const [renaming, rename] = useState<string | null>(null)
  const [moving, move] = useState<string | null>(null)
  useShown(workspace, desk.boardId, opened)
  const rows = rowsOf(workspace.boards, opened.ids)
  return { workspace, rows, opened, actions, desk, renaming, rename, moving, move, focus }
}

/** A board can be seen in the tree when it is opened. Later the person may close the boards above it. */
function useShown({ boards }: Workspace, boardId: string | null, { add }: Opened): void {
  const shown = useRef<string | null>(null)
  useEffect(() => {
    if (boardId === null || shown.current === boardId || boards.every(({ id }) => id !== boardId)) return
    shown.current = boardId
    add(aboveOf(boards, boardId))
  }, [boards, boardId, add])
}

const focus = (id: string) =>
  document.querySelector<HTMLElement>(`[role='treeitem'][data-id='${id}']`)?.focus()

/** @param id Moves to the board with this id. A board that was cut stays cut when it can't go there. */
export async function paste(
  { workspace, moving, move, actions, opened }: TreeState,
  id: string,
): Promise<void> {
  const board = workspace.boards.find((one) => one.id === moving)
  if (!board || !canMove(workspace.boards, board.id, id)) return
  move(null)
  opened.add([id])
  await actions.move(board, id)
}

export function cut({ move, desk }: TreeState, { id, name }: ListedBoard): void {
  move(id)
  desk.say({ text: `“${name}” is cut. Paste it with Ctrl-V on the board that it belongs in.` })
}

/** The focus goes to the next board, so that the keyboard goes on from there. */
export async function trash({ rows, actions, focus }: TreeState, board: ListedBoard): Promise<void> {
  const at = rows.findIndex((row) => row.board.id === board.id)
  const next = rows[at + 1] ?? rows[at - 1]
  await actions.trash(board)
  if (next) focus(next.board.id)
}
