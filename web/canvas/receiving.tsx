/** What is dropped and pasted on the canvas, and what is on its way there. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { Panel, useReactFlow } from '@xyflow/react'
import { useStore } from '../../client/react/index.ts'
import { Later, part } from '../controls/later.tsx'
import type { Intake } from '../files/intake.ts'
import { useReceive } from '../files/receive.ts'
import { useSurface } from './surface.ts'
import { useMiddle } from './use-middle.ts'

const Arriving = part(async () => (await import('./arriving.tsx')).Arriving)
const Tray = part(async () => (await import('../files/tray.tsx')).Tray)

interface ReceivingProps {
  intake: Intake
  canEdit: boolean
  /** Leads to these cards. */
  show(ids: readonly string[]): void
}

export function Receiving({ intake, canEdit, show }: ReceivingProps): ReactNode {
  const { jobs, carrier, take } = intake
  const { screenToFlowPosition } = useReactFlow()
  const middle = useMiddle()
  const isOver = useReceive(canEdit, (gift, at) => take(gift, screenToFlowPosition(at ?? middle())))
  const isEmpty = useSyncExternalStore(jobs.subscribe, () => jobs.get().length === 0)
  return (
    <>
      {!isEmpty && (
        <Later>
          <Arriving jobs={jobs} />
          <Panel position="top-right" className="nopan nowheel">
            <Tray {...{ jobs, carrier, show }} />
          </Panel>
        </Later>
      )}
      {canEdit && isEmpty && <Empty />}
      {isOver && (
        <Panel position="top-center">
          <p className="drop-here">Drop to put it on the board</p>
        </Panel>
      )}
    </>
  )
}

/** Tells how to begin. */
function Empty(): ReactNode {
  const hasCards = useStore(useSurface().board.cards).length > 0
  if (hasCards) return null
  return (
    <Panel position="top-center" className="empty">
      <p>This board is empty. Double-click anywhere to write a card, or drop files and links here.</p>
    </Panel>
  )
}
