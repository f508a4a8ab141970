/** One board: its name, who is here, whether all is saved, and the canvas. */
import { use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import { openBoard, type BoardStatus, type OpenBoard } from '../../client/editor/index.ts'
import { useBoard, useSaveStatus } from '../../client/react/index.ts'
import { keptFor } from '../board/offline.ts'
import { DeskContext } from '../boards/desk.ts'
import { Canvas } from '../canvas/canvas.tsx'
import { Later, part } from '../controls/later.tsx'
import { useIntake } from '../files/intake.ts'
import { readAccountId } from '../service/api.ts'
import { readBoardState } from '../service/board-state.ts'
import { readBoard, type Board } from '../service/boards.ts'
import { guestToken } from '../service/token.ts'
import { guardLeaving, useCardGoal } from './route.ts'
import { useHistory, type BoardHistory } from './use-history.tsx'
import { useView, type View } from './view.ts'

const BoardBar = part(async () => (await import('./board-bar.tsx')).BoardBar)
// Both are loaded when the board is shown: when the connection is lost it is too late.
const loadNotices = () => import('./notices.tsx')
const Why = part(async () => (await loadNotices()).Why)
const Full = part(async () => (await loadNotices()).Full)
const loadList = () => import('../list/list.tsx')
const List = part(async () => (await loadList()).List)

interface BoardPageProps {
  boardId: string
  /** The name, when the list of boards has it. */
  known: string | undefined
  /** Called when the board is shown, or will not be. */
  shown?(): void
  /** Guests have no list. */
  listButton?: { isListOpen: boolean; toggleList(): void }
}

export function BoardPage({ boardId, known, shown, listButton }: BoardPageProps): ReactNode {
  const board = useBoard({ ...placeOf(boardId), ...(guestToken() === null ? { store } : {}) })
  const openAt = useCallback((asOf: string) => openBoard({ ...placeOf(boardId), asOf }), [boardId])
  const past = useHistory(boardId, openAt)
  const [following, follow] = useState<string | null>(null)
  const [row, setRow] = useBoardRow(boardId)
  const name = known ?? row?.name
  const [view, show] = useView(boardId, row?.view)
  useComeBack(board, known !== undefined)
  const [isShown, setShown] = useState(false)
  const noteShown = useCallback(() => {
    setShown(true)
    void Promise.allSettled([loadNotices(), loadList()]) // what fails is tried again when it is needed
    shown?.()
  }, [shown])
  useEffect(() => {
    document.title = name === undefined ? 'Corkboard' : `${name} · Corkboard`
  }, [name])
  return (
    <main className="board-page">
      <header>
        {listButton && (
          <button
            type="button"
            className="plain narrow-only"
            aria-expanded={listButton.isListOpen}
            aria-controls="boards"
            onClick={listButton.toggleList}
          >
            Boards
          </button>
        )}
        <h1>{name ?? 'Board'}</h1>
        {board && <State board={board} />}
        <ViewSwitch view={view} show={show} />
        {past.button}
        {board && isShown && (
          <Later>
            <BoardBar
              {...{ board, boardId, view, following, follow }}
              row={listButton ? row : null}
              changed={setRow}
              name={name ?? 'Board'}
            />
          </Later>
        )}
      </header>
      {board && (
        <Later>
          <Open {...{ board, boardId, past, view, following, follow }} shown={noteShown} />
        </Later>
      )}
    </main>
  )
}

/** Without a token: a page of the service opens sockets by its session. Guests have none. */
const placeOf = (board: string) => ({ url: location.origin, board, token: guestToken() ?? sessionToken })
/** A function is asked once more when a socket ends. So the service tells whether the session ended, or the access. */
const sessionToken = () => ''
const store = keptFor(
  readAccountId,
  // Without an answer it is kept: only this account can read it.
  (name) =>
    readBoardState(name.replace('corkboard:', '')).then(
      (state) => state === 'gone',
      () => false,
    ),
)

/** What the lists of boards don't tell: the schedule, and the name of a board that is in none of them. */
function useBoardRow(boardId: string): [Board | null, (board: Board) => void] {
  const [row, setRow] = useState<Board | null>(null)
  const notifications = use(DeskContext)?.notifications
  /** The newest notification about this board: its dates have changed. */
  const told = notifications?.list?.find((one) => one.board_id === boardId)?.id
  useEffect(() => {
    // Without it the page still works, and the board's connection says what is wrong.
    readBoard(boardId).then(setRow, () => undefined)
  }, [boardId, told])
  return [row, setRow]
}

/** Opens a closed board again when the lists have it again: somebody has restored it, or has given the access back. */
function useComeBack(board: OpenBoard | null, isListed: boolean): void {
  useEffect(() => {
    if (!board || !isListed) return
    const { connection, reason } = board.status.get()
    const wasRefused = reason?.name === 'access-ended' || reason?.name === 'permission-denied'
    if (connection === 'closed' && wasRefused) board.reconnect()
  }, [board, isListed])
}

const missing = 'The card that this address leads to is not on the board. It may have been removed.'

interface OpenProps {
  board: OpenBoard
  boardId: string
  past: BoardHistory
  view: View
  /** Called when the board is shown, or will not be. */
  shown(): void
  /** The account whose view this window follows. */
  following: string | null
  follow(who: string | null): void
}

function Open({ board, boardId, past, view, shown, ...following }: OpenProps): ReactNode {
  const [at, say] = [useCardGoal(), use(DeskContext)?.say]
  const goal = useMemo(() => ({ at, missing: () => say?.({ text: missing }) }), [at, say])
  const status = useSaveStatus(board)
  const { connection, loaded, kept, readOnly, saved, reason } = status
  useEffect(() => {
    // The canvas draws its cards within the next frames.
    if (loaded || reason) requestAnimationFrame(() => requestAnimationFrame(shown))
  }, [loaded, reason, shown])
  useEffect(() => {
    if (saved || kept) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    const end = guardLeaving(() =>
      confirm('Not all changes of this board are saved. Leave it, and lose them?'),
    )
    return () => {
      removeEventListener('beforeunload', ask)
      end()
    }
  }, [saved, kept])
  const canEdit = loaded && !readOnly && connection !== 'closed'
  const intake = useIntake(board, canEdit ? boardId : null)
  const showHistory = guestToken() === null ? past.showCard : null
  if (!loaded)
    return (
      <div className="message">
        {reason ? (
          <Later>
            <Why {...{ board, boardId, reason }} wasOpen={false} />
          </Later>
        ) : (
          <p role="status">Opening the board…</p>
        )}
      </div>
    )
  return (
    <>
      {reason && (
        <div className={connection === 'connecting' ? 'banner passing' : 'banner'}>
          <Later>
            <Why {...{ board, boardId, reason }} wasOpen />
          </Later>
        </div>
      )}
      {status.full && (
        <Later>
          <Full status={status} />
        </Later>
      )}
      <div className={past.past ? 'stage past' : 'stage'}>
        {view === 'canvas' ? (
          <Canvas
            {...{ ...following, goal, intake, showHistory }}
            board={past.past ?? board}
            canEdit={canEdit && !past.past}
          />
        ) : (
          <Later fallback={<p className="message">Opening the list…</p>}>
            <List
              {...{ goal, intake, showHistory }}
              board={past.past ?? board}
              canEdit={canEdit && !past.past}
            />
          </Later>
        )}
        {past.panel(board, canEdit)}
      </div>
    </>
  )
}

function ViewSwitch({ view, show }: { view: View; show(view: View): void }): ReactNode {
  const other = view === 'canvas' ? 'list' : 'canvas'
  return (
    <button type="button" className="plain view-switch" onClick={() => show(other)}>
      <span className="hidden">Show the board as </span>
      {other === 'list' ? 'List' : 'Canvas'}
    </button>
  )
}

function State({ board }: { board: OpenBoard }): ReactNode {
  const { name, says } = stateOf(useSaveStatus(board))
  return (
    <p className={`state ${name}`} role="status">
      {says}
    </p>
  )
}

function stateOf({ connection, loaded, kept, saved, readOnly, full }: BoardStatus): {
  name: string
  says: string
} {
  if (connection === 'closed') return { name: 'offline', says: saved ? 'Closed' : 'Closed, not all is saved' }
  if (connection === 'connecting' && loaded)
    return {
      name: 'offline',
      says: saved ? 'Offline' : kept ? 'Offline, kept on this device' : 'Offline, not all is saved',
    }
  if (connection === 'connecting') return { name: 'saving', says: 'Opening' }
  if (readOnly) return { name: 'read-only', says: full ? 'Read-only: the storage is full' : 'Read-only' }
  return saved ? { name: 'saved', says: 'Saved' } : { name: 'saving', says: 'Saving' }
}
