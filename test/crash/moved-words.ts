/** Which words typed into cards have to be there after moves. Times are turns of one counter. */
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
  /** When it was over, however it ended. */
  answered: number
}

/**
 * A word must be there if it was acknowledged before every later move of its card was asked for, and was not typed into
 * what an earlier move had left behind. Moves of a card are made one after the other.
 */
export function mustSurvive(word: Word, moves: Move[]): boolean {
  const ofCard = moves.filter(({ cardId }) => cardId === word.cardId)
  const earlier = ofCard.filter(({ answered }) => answered < word.typed)
  return (
    ofCard.every(({ asked, answered }) => answered < word.typed || word.acknowledged < asked) &&
    (earlier.length === 0 || earlier.at(-1)!.to === word.board)
  )
}
