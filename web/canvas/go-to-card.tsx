/** Leads to the card that the address names. */
import { useCallback } from 'react'
import { useStore as useFlow } from '@xyflow/react'
import type { EditorCard as Card, OpenBoard } from '../../client/editor/index.ts'
import { useGoal, type Goal } from '../board/use-goal.ts'
import { boxOf, type Box } from './geometry.ts'

interface GoToCardProps {
  board: OpenBoard
  goal: Goal
  select(ids: Iterable<string>): void
  fit(box: Box): void
}

export function GoToCard({ board, goal, select, fit }: GoToCardProps): null {
  const isMeasured = useFlow(({ width }) => width > 0)
  const lead = useCallback(
    (card: Card) => {
      select([card.id])
      fit(boxOf(card, card))
    },
    [select, fit],
  )
  useGoal(board, goal, isMeasured, lead)
  return null
}
