/** Why the board is not open, or takes no changes, and what the person can do. */
import { useEffect, useState, type ReactNode } from 'react'
import type { BoardStatus, OpenBoard, Reason } from '../../client/editor/index.ts'
import { useSaveStatus } from '../../client/react/index.ts'
import { inTrash, wordsOf, type Words } from '../board/reasons.ts'
import { readBoardState, restoreBoard, type BoardState } from '../service/board-state.ts'
import { guestToken, signIn } from '../service/token.ts'

interface WhyProps {
  board: OpenBoard
  boardId: string
  reason: Reason
  wasOpen: boolean
}

export function Why({ board, boardId, reason, wasOpen }: WhyProps): ReactNode {
  const state = useBoardState(boardId, reason)
  const { kept } = useSaveStatus(board)
  const circumstances = { wasOpen, kept: kept || !wasOpen, isGuest: guestToken() !== null }
  const { says, offers } = state === 'trash' ? inTrash : wordsOf(reason, circumstances)
  return (
    <>
      <p role="alert">{says}</p>
      <Offer offers={offers} restore={() => restore(board, boardId)} />
    </>
  )
}

async function restore(board: OpenBoard, boardId: string): Promise<void> {
  await restoreBoard(boardId)
  board.reconnect()
}

/** The service closes a board for several reasons with one code. The API tells which it is. Null until then. */
function useBoardState(boardId: string, { name }: Reason): BoardState | null {
  const [state, setState] = useState<BoardState | null>(null)
  const isAsked = name === 'permission-denied' || name === 'access-ended'
  useEffect(() => {
    if (!isAsked) return
    // Without an answer the words are those for all of the reasons.
    readBoardState(boardId).then(setState, () => setState(null))
  }, [boardId, isAsked])
  return state
}

function Offer({ offers, restore }: { offers: Words['offers']; restore(): Promise<void> }): ReactNode {
  const [fault, setFault] = useState<string | null>(null)
  const tryToRestore = () => void restore().catch((error: Error) => setFault(error.message))
  switch (offers) {
    case 'sign in':
      return <Button says="Sign in" act={signIn} />
    case 'reload':
      return <Button says="Reload" act={() => location.reload()} />
    case 'restore':
      return (
        <>
          <Button says="Restore the board" act={tryToRestore} />
          {fault !== null && <p role="alert">{fault}</p>}
          <a href="/app/">Go to your boards</a>
        </>
      )
    case 'other board':
      return guestToken() === null && <a href="/app/">Go to your boards</a>
    case null:
      return null
  }
}

const Button = ({ says, act }: { says: string; act(): void }): ReactNode => (
  <button type="button" className="main" onClick={act}>
    {says}
  </button>
)

/** Shown while the storage of documents is used up, until somebody closes it. */
export function Full({ status: { readOnly } }: { status: BoardStatus }): ReactNode {
  const [isClosed, setClosed] = useState(false)
  if (isClosed) return null
  return (
    <div className="banner">
      <p role="alert">
        {readOnly
          ? 'The storage of the board’s owner is full, so the board takes no changes. Delete cards or boards, or ask the owner for more.'
          : 'The storage of the board’s owner is full. You can go on here, but not after a reload. Delete cards or boards, or ask the owner for more.'}
      </p>
      <button type="button" onClick={() => setClosed(true)}>
        Close
      </button>
    </div>
  )
}
