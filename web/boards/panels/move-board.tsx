/** Moves a board by a list of the places where it can go. */
import { useState, type ReactNode } from 'react'
import { Dialog } from '../../controls/dialog.tsx'
import type { ListedBoard, Workspace } from '../../service/boards.ts'
import { useDesk } from '../desk.ts'
import { canMove, rowsOf } from '../rows.ts'
import { useActions } from '../use-actions.ts'
import type { Opened } from '../use-opened.ts'

interface MoveProps {
  /** As it was when the panel was opened. */
  board: ListedBoard
  workspaceId: string
  opened: Opened
  close(): void
}

/** Others may move boards while the panel is open, so it shows the lists as they are now. */
export function MoveBoard({ board, workspaceId, opened, close }: MoveProps): ReactNode {
  const workspace = useDesk().places?.workspaces.find(({ id }) => id === workspaceId)
  const now = workspace?.boards.find(({ id }) => id === board.id)
  return (
    <Dialog title={`Move “${board.name}” to`} close={close}>
      {workspace && now ? (
        <PlaceList {...{ board: now, workspace, opened, close }} />
      ) : (
        <p role="status">The board is not here any more.</p>
      )}
    </Dialog>
  )
}

function PlaceList({
  board,
  workspace,
  opened,
  close,
}: Omit<MoveProps, 'workspaceId'> & { workspace: Workspace }): ReactNode {
  const actions = useActions(workspace)
  const [words, setWords] = useState('')
  const all = rowsOf(workspace.boards, new Set(workspace.boards.map(({ id }) => id)))
  const matches = (name: string) => name.toLowerCase().includes(words.trim().toLowerCase())
  const places = [
    { id: null, name: `Top level of ${workspace.name}`, level: 1 },
    ...all.map(({ board: { id, name }, level }) => ({ id, name, level: level + 1 })),
  ].filter(({ id, name }) => canMove(workspace.boards, board.id, id) && matches(name))
  const move = (id: string | null) => {
    close()
    if (id !== null) opened.add([id])
    void actions.move(board, id)
  }
  return (
    <>
      <input
        aria-label="Find a board"
        placeholder="Find a board"
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      {places.length === 0 && <p role="status">No board of this name where it can go.</p>}
      <ul className="places">
        {places.map(({ id, name, level }) => (
          <li key={id}>
            <button type="button" style={{ '--level': Math.min(level, 6) - 1 }} onClick={() => move(id)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
