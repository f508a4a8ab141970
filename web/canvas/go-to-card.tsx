/** Leads to the card that the address names, as soon as the board has it. */
import { useEffect, useRef } from 'react'
import { useStore as useFlow } from '@xyflow/react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'
import { boxOf, type Box } from './geometry.ts'

interface GoToCardProps {
  board: OpenBoard
  /** `{visit} {cardId}`: another visit leads to the same card again. */
  goal: string | null
  select(ids: Iterable<string>): void
  fit(box: Box): void
}

export function GoToCard({ board, goal, select, fit }: GoToCardProps): null {
  const isMeasured = useFlow(({ width }) => width > 0)
  const cards = useStore(board.cards)
  const reached = useRef<string | null>(null)
  useEffect(() => {
    if (goal === null || goal === reached.current || !isMeasured) return
    const id = goal.slice(goal.indexOf(' ') + 1)
    const card = cards.find((one) => one.id === id)
    if (!card) return
    reached.current = goal
    select([id])
    fit(boxOf(card, card))
  }, [cards, goal, isMeasured, select, fit])
  return null
}
