/** The boards in the trash, and the cards that were removed from the open board, to bring them back. */
import type { ReactNode } from 'react'
import { useAction } from '../../controls/ask.tsx'
import { Dialog } from '../../controls/dialog.tsx'
import { Shown } from '../../controls/loading.tsx'
import { useLoaded } from '../../controls/use-loaded.ts'
import { timeText } from '../../controls/when.tsx'
import { readTrash, restoreBoard, type Board } from '../../service/boards.ts'
import { useDesk } from '../desk.ts'
import { RemovedCards } from './removed-cards.tsx'

export function Trash({ close }: { close(): void }): ReactNode {
  const { places, boardId } = useDesk()
  const trash = useLoaded('trash', readTrash)
  // Only writers of its workspace restore a board.
  const workspaceOf = (board: Board) =>
    places?.workspaces.find(({ id, canWrite }) => id === board.workspace_id && canWrite)
  // Only members of a workspace see the history of its boards.
  const within = places?.workspaces.find(({ boards }) => boards.some(({ id }) => id === boardId))
  const open = within?.boards.find(({ id }) => id === boardId)
  return (
    <Dialog title="Trash" close={close}>
      <p className="quiet">
        A board in the trash is deleted for good after 30 days. Boards inside it are not deleted with it.
      </p>
      <Shown of={trash}>
        {(all) => {
          const boards = all.filter((board) => places === null || workspaceOf(board))
          return boards.length === 0 ? (
            <p role="status">The trash is empty.</p>
          ) : (
            <ul className="entries">
              {boards.map((board) => (
                <Trashed
                  key={board.id}
                  {...{ board, close }}
                  workspace={workspaceOf(board)?.name ?? ''}
                  read={trash.reload}
                />
              ))}
            </ul>
          )
        }}
      </Shown>
      {open && <RemovedCards boardId={open.id} name={open.name} canWrite={within!.canWrite} />}
    </Dialog>
  )
}

interface TrashedProps {
  board: Board
  /** The name of its workspace. */
  workspace: string
  read(): Promise<void>
  close(): void
}

function Trashed({ board, workspace, read, close }: TrashedProps): ReactNode {
  const { open, reload } = useDesk()
  const { run, fault } = useAction()
  const restore = (then?: () => void) =>
    void run(async () => {
      await restoreBoard(board.id)
      await Promise.all([read(), reload()])
      then?.()
    })
  const restoreAndOpen = () => {
    close()
    open(board.id)
  }
  return (
    <li>
      <span className="what">
        <strong>{board.name}</strong>
        <span className="quiet">
          {workspace} · deleted {board.updated_at !== null && timeText(board.updated_at, 'date')}
        </span>
        {fault !== null && <span role="alert">{fault}</span>}
      </span>
      <button type="button" aria-label={`Restore ${board.name}`} onClick={() => restore()}>
        Restore
      </button>
      <button
        type="button"
        className="plain"
        aria-label={`Restore and open ${board.name}`}
        onClick={() => restore(restoreAndOpen)}
      >
        Restore and open
      </button>
    </li>
  )
}
