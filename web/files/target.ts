/** The board that files and links are for. */
import type { CardFields, OpenBoard } from '../../client/editor/index.ts'
import type { Frame } from './side-by-side.ts'

export type NewCard = { kind: string } & Record<string, unknown>

export interface Target {
  /** Its id. */
  board: string
  /**
   * @param id of the card; without it, a new one. When the board has such a card, nothing is added.
   * @returns the card's id
   */
  add(card: NewCard, id?: string): string
  /** Does nothing when the card is not there. */
  resize(id: string, size: Pick<Frame, 'w' | 'h'>): void
}

export const targetOf = (board: OpenBoard, id: string): Target => ({
  board: id,
  add(card, cardId) {
    board.newStep()
    return board.cards.add(card as CardFields & NewCard, cardId)
  },
  resize: (card, size) => void board.cards.change(card, size),
})
