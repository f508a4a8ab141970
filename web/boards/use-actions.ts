/** What a person does with boards. The lists are read again afterwards, and what went wrong is told. */
import { useMemo } from 'react'
import {
  changeBoard,
  createBoard,
  restoreBoard,
  trashBoard,
  type ListedBoard,
  type Workspace,
} from '../service/boards.ts'
import { useDesk, type Desk } from './desk.ts'

export type BoardActions = ReturnType<typeof actionsOf>

export function useActions(workspace: Workspace): BoardActions {
  const desk = useDesk()
  return useMemo(() => actionsOf(workspace, desk), [workspace, desk])
}

function actionsOf({ id: workspaceId, boards }: Workspace, { boardId, open, reload, say }: Desk) {
  const nameOf = (id: string | null) => boards.find((board) => board.id === id)?.name
  const done = async <T>(work: () => Promise<T>): Promise<T | null> => {
    say(null)
    try {
      const result = await work()
      await reload()
      return result
    } catch (error) {
      say({ text: (error as Error).message, isFault: true })
      return null
    }
  }
  return {
    /** @returns the new board; null when that failed */
    create: (name: string, parentId: string | null) => done(() => createBoard(workspaceId, name, parentId)),

    rename: (id: string, name: string) => done(() => changeBoard(id, { name })),

    async move({ id, name, parent_board_id: before }: ListedBoard, parentId: string | null) {
      if (!(await done(() => changeBoard(id, { parent_board_id: parentId })))) return
      const where = parentId === null ? 'at the top level' : `in “${nameOf(parentId)}”`
      const undo = () => done(() => changeBoard(id, { parent_board_id: before }))
      say({ text: `“${name}” is now ${where}.`, undo })
    },

    async trash({ id, name, parent_board_id: parent }: ListedBoard) {
      if (!(await done(() => trashBoard(id)))) return
      const next = parent ?? boards.find((board) => board.id !== id)?.id
      const undo = async () => {
        if ((await done(() => restoreBoard(id))) && boardId === id) open(id)
      }
      say({ text: `“${name}” is in the trash for 30 days.`, undo })
      if (boardId === id && next !== undefined) open(next)
    },
  }
}
