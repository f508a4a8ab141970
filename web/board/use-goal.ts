/** The card that the address of the page leads to. */
import { useEffect, useRef } from 'react'
import type { EditorCard as Card, OpenBoard } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'

/** `{visit} {cardId}`: another visit leads to the same card again. Null: the address names none. */
export type Goal = string | null

const cardIdOf = (goal: string) => goal.slice(goal.indexOf(' ') + 1)

/**
 * Leads to the card once, as soon as the board has it.
 *
 * @param isReady whether it can be shown
 */
export function useGoal(board: OpenBoard, goal: Goal, isReady: boolean, lead: (card: Card) => void): void {
  const cards = useStore(board.cards)
  const reached = useRef<Goal>(null)
  useEffect(() => {
    if (goal === null || goal === reached.current || !isReady) return
    const card = board.cards.find(cardIdOf(goal))
    if (!card) return
    reached.current = goal
    lead(card)
  }, [board, cards, goal, isReady, lead])
}

/** Says it once when the board is complete, and does not have the card. */
export function useMissingGoal(board: OpenBoard, goal: Goal, say: (text: string) => void): void {
  const { connection, loaded } = useStore(board.status)
  const isComplete = loaded && connection === 'open'
  const looked = useRef<Goal>(null)
  useEffect(() => {
    if (goal === null || goal === looked.current || !isComplete) return
    looked.current = goal
    if (!board.cards.find(cardIdOf(goal)))
      say('The card that this address leads to is not on the board. It may have been removed.')
  }, [board, goal, isComplete, say])
}
