/** What stands beside the name of an open board: its view, its dates, who is here, and sharing. It is loaded later. */
import type { ReactNode } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { useSaveStatus } from '../../client/react/index.ts'
import { ScheduleButton } from '../boards/schedule-button.tsx'
import type { Board } from '../service/boards.ts'
import { People } from './people.tsx'
import { ShareButton } from './share-button.tsx'
import type { View } from './view.ts'
import { ViewForAll } from './view-for-all.tsx'

interface BoardBarProps {
  board: OpenBoard
  boardId: string
  name: string
  /** Null until it is read, and for guests. */
  row: Board | null
  changed(row: Board): void
  /** What this person sees. */
  view: View
  following: string | null
  follow(who: string | null): void
}

export function BoardBar({
  board,
  boardId,
  name,
  row,
  changed,
  view,
  ...following
}: BoardBarProps): ReactNode {
  const { readOnly } = useSaveStatus(board)
  return (
    <>
      {row && !readOnly && <ViewForAll {...{ row, changed, view }} />}
      {row && <ScheduleButton board={row} {...{ readOnly, changed }} />}
      <People board={board} {...following} />
      <ShareButton boardId={boardId} name={name} />
    </>
  )
}
