/** The card that the address of the page leads to. */
import { useEffect, useRef } from 'react'
import type { EditorCard as Card, OpenBoard } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'

export interface Goal {
  /** `{visit} {cardId}`: another visit leads to the same card again. Null: the address names none. */
  at: string | null
  /** Called when the board does not have the card. */
  missing(): void
}

/**
 * Leads to the card once, as soon as the board has it, or tells once that it is missing.
 *
 * @param isReady whether it can be shown
 */
export function useGoal(
  board: OpenBoard,
  { at, missing }: Goal,
  isReady: boolean,
  lead: (card: Card) => void,
): void {
  const cards = useStore(board.cards)
  const isComplete = useStore(board.status).connection === 'open'
  const [reached, told] = [useRef<string | null>(null), useRef<string | null>(null)]
  useEffect(() => {
    if (at === null || at === reached.current || !isReady) return
    const card = board.cards.find(at.slice(at.indexOf(' ') + 1))
    if (card) {
      reached.current = at
      lead(card)
    } else if (isComplete && at !== told.current) {
      told.current = at
      missing()
    }
  }, [board, cards, at, missing, isComplete, isReady, lead])
}
