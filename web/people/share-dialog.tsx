/** Who has access to a board: people, invitations and guest links. Only the owner of the workspace manages them. */
import type { ReactNode } from 'react'
import { Dialog } from '../controls/dialog.tsx'
import { BoardPeople } from './board-people.tsx'
import { GuestLinks } from './guest-links.tsx'
import type { SharedBoard } from './shared-board.ts'

interface ShareDialogProps extends SharedBoard {
  name: string
  close(): void
}

export default function ShareDialog({ name, close, ...board }: ShareDialogProps): ReactNode {
  return (
    <Dialog title={`Share “${name}”`} className="wide" close={close}>
      <BoardPeople {...board} />
      <GuestLinks {...board} />
    </Dialog>
  )
}
