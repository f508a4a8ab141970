/** The tree of boards, to switch between them, and a form that creates one. */
import { useState, type FormEvent, type MouseEvent, type ReactNode } from 'react'
import { createBoard, type TreeBoard, type Workspace } from '../service/api.ts'
import { addressOf, go } from './route.ts'

interface BoardListProps {
  /** Null until they are read. */
  workspaces: Workspace[] | null
  boardId: string | null
  isOpen: boolean
  reload(): Promise<void>
  close(): void
}

export function BoardList({ workspaces, boardId, isOpen, reload, close }: BoardListProps): ReactNode {
  return (
    <nav id="boards" className={isOpen ? 'boards open' : 'boards'} aria-label="Boards">
      <div className="brand">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>Corkboard</span>
        <button type="button" className="plain narrow-only" onClick={close}>
          Close
        </button>
      </div>
      {workspaces?.map((workspace) => (
        <section key={workspace.id}>
          <h2>{workspace.name}</h2>
          <ul>
            {workspace.boards.map((board) => (
              <BoardLink key={board.id} board={board} isCurrent={board.id === boardId} />
            ))}
          </ul>
          <NewBoard workspace={workspace} reload={reload} />
        </section>
      ))}
      <p className="more">
        <a href="/settings">Settings</a> <a href="/docs">API reference</a>
      </p>
    </nav>
  )
}

const deepestIndent = 6

function BoardLink({ board, isCurrent }: { board: TreeBoard; isCurrent: boolean }): ReactNode {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return // a new tab or window
    event.preventDefault()
    go(board.id)
  }
  return (
    <li data-depth={Math.min(board.depth, deepestIndent)}>
      <a href={addressOf(board.id)} aria-current={isCurrent ? 'page' : undefined} onClick={open}>
        {board.name}
      </a>
    </li>
  )
}

function NewBoard({ workspace, reload }: { workspace: Workspace; reload(): Promise<void> }): ReactNode {
  const [name, setName] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const id = await createBoard(workspace.id, name.trim())
      setName('')
      setFault(null)
      await reload()
      go(id)
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  return (
    <form onSubmit={(event) => void create(event)}>
      <input
        aria-label={`Name of a new board in ${workspace.name}`}
        placeholder="New board"
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" disabled={name.trim() === ''}>
        Create
      </button>
      {fault !== null && <p role="alert">{fault}</p>}
    </form>
  )
}
