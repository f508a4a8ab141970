/** What the canvas has as soon as its first cards are drawn: zoom, the way to a card, and what is dropped and pasted. */
import type { ReactNode } from 'react'
import { ControlButton, Controls } from '@xyflow/react'
import type { Goal } from '../board/use-goal.ts'
import type { Intake } from '../files/intake.ts'
import type { Box } from './geometry.ts'
import { GoToCard } from './go-to-card.tsx'
import { Receiving } from './receiving.tsx'
import { useSurface } from './surface.ts'
import { useKeepMiddle } from './use-keep-middle.ts'

interface AfterProps {
  goal: Goal
  intake: Intake
  fit(box?: Box): void
  show(ids: readonly string[]): void
}

export function After({ goal, intake, fit, show }: AfterProps): ReactNode {
  const { board, canEdit, select } = useSurface()
  useKeepMiddle(board)
  return (
    <>
      <Zoom fit={() => fit()} />
      <GoToCard {...{ board, goal, select, fit }} />
      <Receiving {...{ intake, canEdit, show }} />
    </>
  )
}

/** xyflow's own button fits the cards that it knows, and those are not all. */
const Zoom = ({ fit }: { fit(): void }): ReactNode => (
  <Controls showInteractive={false} showFitView={false}>
    <ControlButton title="Fit View" aria-label="Fit View" onClick={fit}>
      <svg viewBox="0 0 12 12">
        <path d="M0 4V0h4v1.5H1.5V4zM8 0h4v4h-1.5V1.5H8zM0 8h1.5v2.5H4V12H0zM10.5 8H12v4H8v-1.5h2.5z" />
      </svg>
    </ControlButton>
  </Controls>
)
