/** The app: the boards at the side, and the one that is open. */
import { useCallback, useEffect, useState, type ReactNode } from 'react'
import { readBoards, type Workspace } from '../service/api.ts'
import { signIn, SignedOut } from '../service/token.ts'
import { BoardList } from './board-list.tsx'
import { BoardPage } from './board-page.tsx'
import { go, useBoardId } from './route.ts'

export function App(): ReactNode {
  const boardId = useBoardId()
  const { workspaces, fault, reload } = useWorkspaces()
  const [isListOpen, setListOpen] = useState(false)
  const boards = workspaces?.flatMap((workspace) => workspace.boards)
  const first = boards?.find(({ id }) => id === lastBoard()) ?? boards?.[0]
  useEffect(() => {
    if (boardId === null && first) go(first.id, 'replace')
    if (boardId !== null) localStorage.setItem(lastBoardKey, boardId)
    setListOpen(false)
  }, [boardId, first])
  useEffect(() => {
    const name = boards?.find(({ id }) => id === boardId)?.name
    document.title = name === undefined ? 'Corkboard' : `${name} · Corkboard`
  }, [boards, boardId])
  const list = (
    <BoardList {...{ workspaces, boardId, isOpen: isListOpen, reload, close: () => setListOpen(false) }} />
  )
  return (
    <div className="app">
      {list}
      {boardId === null ? (
        <main className="message">
          <Waiting fault={fault} isEmpty={workspaces !== null && boards?.length === 0} />
        </main>
      ) : (
        <BoardPage
          key={boardId}
          boardId={boardId}
          known={boards?.find(({ id }) => id === boardId)?.name}
          isListOpen={isListOpen}
          toggleList={() => setListOpen((isOpen) => !isOpen)}
        />
      )}
    </div>
  )
}

function Waiting({ fault, isEmpty }: { fault: string | null; isEmpty: boolean }): ReactNode {
  if (fault !== null) return <p role="alert">{fault}</p>
  return <p>{isEmpty ? 'There is no board yet. Create the first one at the side.' : 'Opening…'}</p>
}

const lastBoardKey = 'corkboard: last board'
const lastBoard = () => localStorage.getItem(lastBoardKey)

/** The boards that the account sees. They are read again when the window is shown again. */
function useWorkspaces() {
  const [workspaces, setWorkspaces] = useState<Workspace[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const reload = useCallback(async () => {
    try {
      setWorkspaces(await readBoards())
      setFault(null)
    } catch (error) {
      if (error instanceof SignedOut) signIn()
      else setFault((error as Error).message)
    }
  }, [])
  useEffect(() => {
    const onShown = () => document.visibilityState === 'visible' && void reload()
    void reload()
    document.addEventListener('visibilitychange', onShown)
    return () => document.removeEventListener('visibilitychange', onShown)
  }, [reload])
  return { workspaces, fault, reload }
}
