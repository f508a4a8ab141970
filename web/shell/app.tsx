/** The app: the side, the board that is open, and what is shown over both. */
import { useCallback, useEffect, useMemo, useState, type ComponentType, type ReactNode } from 'react'
import { boardsOf, DeskContext, type Desk, type Notice, type Panel, type Shared } from '../boards/desk.ts'
import { showSearch } from '../boards/show-search.ts'
import { Later, part } from '../controls/later.tsx'
import { BoardPage } from './board-page.tsx'
import { NoticeBar } from './notice-bar.tsx'
import { addressOf, follow, go, settingsOf, useBoardId, useSettingsId } from './route.ts'
import { useRecent } from './use-recent.ts'

const WorkspaceSettings = part(async () => (await import('./workspace-settings.tsx')).WorkspaceSettings)

export function App(): ReactNode {
  const { desk, share, notice, panel: Panel, close } = useDeskOfApp()
  const { boardId, places } = desk
  const settingsId = useSettingsId()
  const [isListOpen, setListOpen] = useState(false)
  const { Side, loadSide } = useSide(desk)
  const boards = boardsOf(places)
  const first = desk.recent.find((id) => boards.some((board) => board.id === id)) ?? boards[0]?.id
  useEffect(() => {
    if (boardId === null) loadSide()
    if (boardId === null && settingsId === null && first !== undefined) go(first, undefined, 'replace')
  }, [boardId, settingsId, first, loadSide])
  useEffect(() => setListOpen(false), [boardId, settingsId])
  const listButton = { isListOpen, toggleList: () => setListOpen((isOpen) => !isOpen) }
  return (
    <DeskContext value={desk}>
      <div className="app">
        <nav id="boards" className={isListOpen ? 'boards open' : 'boards'} aria-label="Boards">
          <div className="brand">
            <img src="/icon.svg" alt="" width="24" height="24" />
            <span>Corkboard</span>
            <button type="button" className="plain narrow-only" onClick={() => setListOpen(false)}>
              Close
            </button>
          </div>
          {Side && <Side share={share} />}
        </nav>
        {settingsId !== null ? (
          <Later>
            <WorkspaceSettings workspaceId={settingsId} {...listButton} />
          </Later>
        ) : boardId === null ? (
          <main className="message">
            <p>{places ? 'There is no board yet. Create the first one at the side.' : 'Opening…'}</p>
          </main>
        ) : (
          <BoardPage
            key={boardId}
            boardId={boardId}
            known={boards.find(({ id }) => id === boardId)?.name}
            shown={loadSide}
            listButton={listButton}
          />
        )}
      </div>
      {Panel && <Panel close={close} />}
      <NoticeBar notice={notice} say={desk.say} />
    </DeskContext>
  )
}

const notYet: Shared = { places: null, notifications: null, reload: () => Promise.resolve() }

function useDeskOfApp() {
  const boardId = useBoardId()
  const [shared, share] = useState(notYet)
  const recent = useRecent(boardId)
  const [notice, say] = useState<Notice | null>(null)
  const [panel, setPanel] = useState<Panel | null>(null)
  const show = useCallback(async (load: () => Promise<Panel>) => {
    try {
      const loaded = await load()
      setPanel(() => loaded)
    } catch {
      say(notLoaded)
    }
  }, [])
  const desk = useMemo<Desk>(
    () => ({
      ...{ ...shared, boardId, recent, addressOf, say },
      open: (id, cardId) => go(id, cardId),
      settingsOf,
      follow,
      show: (load) => void show(load),
    }),
    [shared, boardId, recent, show],
  )
  useSearchKey(desk)
  return { desk, share, notice, panel, close: () => setPanel(null) }
}

const notLoaded: Notice = {
  text: 'This part of the app could not be loaded. Check the connection, or reload the page.',
  isFault: true,
}

/** The first look at a board needs no side: it is loaded when the board is shown. */
function useSide({ say }: Desk) {
  const [Side, setSide] = useState<ComponentType<{ share(shared: Shared): void }> | null>(null)
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    if (!isWanted) return
    const loading = import('../boards/side.tsx')
    loading.then(
      ({ Side: loaded }) => setSide(() => loaded),
      () => say(notLoaded),
    )
  }, [isWanted, say])
  return { Side, loadSide: useCallback(() => setWanted(true), []) }
}

function useSearchKey(desk: Desk): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      showSearch(desk)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [desk])
}
