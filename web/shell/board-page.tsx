/** One board: its name, who is here, whether all is saved, and the canvas. */
import { useEffect, useState, type ReactNode } from 'react'
import { openBoard, type OpenBoard } from '../board/board.ts'
import type { BoardStatus } from '../board/connection.ts'
import type { Reason } from '../board/reasons.ts'
import { Canvas } from '../canvas/canvas.tsx'
import { colorOf } from '../canvas/person-color.ts'
import { useStore } from '../canvas/use-store.ts'
import { readBoardName } from '../service/api.ts'
import { signIn } from '../service/token.ts'

interface BoardPageProps {
  boardId: string
  /** The name, when the list of boards has it. */
  known: string | undefined
  isListOpen: boolean
  toggleList(): void
}

export function BoardPage({ boardId, known, isListOpen, toggleList }: BoardPageProps): ReactNode {
  const board = useBoard(boardId)
  const shared = useSharedName(boardId, known === undefined)
  return (
    <main className="board-page">
      <header>
        <button
          type="button"
          className="plain narrow-only"
          aria-expanded={isListOpen}
          aria-controls="boards"
          onClick={toggleList}
        >
          Boards
        </button>
        <h1>{known ?? shared ?? 'Board'}</h1>
        {board && <State board={board} />}
        {board && <People board={board} />}
      </header>
      {board && <Open board={board} />}
    </main>
  )
}

function useBoard(boardId: string): OpenBoard | null {
  const [board, setBoard] = useState<OpenBoard | null>(null)
  useEffect(() => {
    // Without a token: a page of the service opens sockets by its session.
    const opened = openBoard({ url: location.origin, board: boardId, token: '' })
    setBoard(opened)
    return () => opened.close()
  }, [boardId])
  return board
}

/** The name of a board that is in no workspace of the account, because it was shared. */
function useSharedName(boardId: string, isWanted: boolean): string | null {
  const [name, setName] = useState<string | null>(null)
  useEffect(() => {
    if (!isWanted) return
    // Without a name the page still works, and the board's connection says what is wrong.
    readBoardName(boardId).then(setName, () => undefined)
  }, [boardId, isWanted])
  return name
}

function Open({ board }: { board: OpenBoard }): ReactNode {
  const status = useStore(board.status)
  const { connection, wasOpen, readOnly, saved, reason } = status
  useEffect(() => {
    if (saved) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [saved])
  if (!wasOpen)
    return (
      <div className="message">
        {reason ? <Why reason={reason} /> : <p role="status">Opening the board…</p>}
      </div>
    )
  return (
    <>
      {reason && (
        <div className={reason.comesBack ? 'banner passing' : 'banner'}>
          <Why reason={reason} />
        </div>
      )}
      <Canvas board={board} canEdit={!readOnly && connection !== 'closed'} />
    </>
  )
}

function Why({ reason: { says, offers } }: { reason: Reason }): ReactNode {
  return (
    <>
      <p role="alert">{says}</p>
      {offers === 'sign in' && (
        <button type="button" className="main" onClick={signIn}>
          Sign in
        </button>
      )}
      {offers === 'reload' && (
        <button type="button" className="main" onClick={() => location.reload()}>
          Reload
        </button>
      )}
      {offers === 'other board' && <a href="/app/">Go to your boards</a>}
    </>
  )
}

function State({ board }: { board: OpenBoard }): ReactNode {
  const status = useStore(board.status)
  const { name, says } = stateOf(status)
  return (
    <p className={`state ${name}`} role="status">
      {says}
    </p>
  )
}

function stateOf({ connection, wasOpen, saved, readOnly, full }: BoardStatus): {
  name: string
  says: string
} {
  if (connection === 'closed') return { name: 'offline', says: saved ? 'Closed' : 'Closed, not all is saved' }
  if (connection === 'connecting' && wasOpen)
    return { name: 'offline', says: saved ? 'Offline' : 'Offline, not all is saved' }
  if (connection === 'connecting') return { name: 'saving', says: 'Opening' }
  if (readOnly) return { name: 'read-only', says: full ? 'Read-only: the storage is full' : 'Read-only' }
  return saved ? { name: 'saved', says: 'Saved' } : { name: 'saving', says: 'Saving' }
}

/** Each account once, however many windows it has. This window is the first. */
function People({ board }: { board: OpenBoard }): ReactNode {
  const people = useStore(board.people)
  const accounts = new Map(people.filter(({ isMe }) => !isMe).map((person) => [person.who, person]))
  return (
    <ul className="people" aria-label="Who is here">
      <li className="me">You</li>
      {[...accounts.values()].map(({ who, name, agent }) => (
        <li
          key={who}
          className={agent ? 'agent' : undefined}
          style={{ '--person': colorOf(who) }}
          title={agent ? `${name} (agent)` : name}
        >
          <span aria-hidden="true">{initials(name)}</span>
          <span className="hidden">{agent ? `${name} (agent)` : name}</span>
        </li>
      ))}
    </ul>
  )
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .toUpperCase()
