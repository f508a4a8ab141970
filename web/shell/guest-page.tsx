/** The page of a guest link: asks who comes, and then shows the one board. */
import { useState, type ReactNode } from 'react'
import { BoardPage } from './board-page.tsx'
import { Later, part } from '../controls/later.tsx'

const Welcome = part(async () => (await import('./welcome.tsx')).default)

export function GuestPage(): ReactNode {
  const [boardId, setBoardId] = useState<string | null>(null)
  if (boardId === null)
    return (
      <Later>
        <Welcome open={setBoardId} />
      </Later>
    )
  return (
    <div className="app alone">
      <BoardPage boardId={boardId} known={undefined} />
    </div>
  )
}
