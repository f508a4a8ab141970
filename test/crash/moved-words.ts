/** Decides which typed words must exist after moves of their cards. Times are values of one counter. */
export interface Word {
  text: string
  cardId: string
  board: string
  typed: number
  acknowledged: number
}

export interface Move {
  cardId: string
  to: string
  asked: number
  /** Time at which the move ended, with or without success. */
  answered: number
}

/**
 * A word must exist if it was acknowledged before every later move of its card was requested, and if it was not typed
 * into the old copy that an earlier move removed. Moves of a card are sequential.
 */
export function mustSurvive(word: Word, moves: Move[]): boolean {
  const ofCard = moves.filter(({ cardId }) => cardId === word.cardId)
  const earlier = ofCard.filter(({ answered }) => answered < word.typed)
  return (
    ofCard.every(({ asked, answered }) => answered < word.typed || word.acknowledged < asked) &&
    (earlier.length === 0 || earlier.at(-1)!.to === word.board)
  )
}
