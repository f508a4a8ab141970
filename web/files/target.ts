/** The board that files and links are for. */
import type { Frame } from './side-by-side.ts'

export type NewCard = { kind: string } & Record<string, unknown>

export interface Target {
  /** Its id. */
  board: string
  /** @returns the new card's id */
  add(card: NewCard): string
  /** Does nothing when the card is not there. */
  resize(id: string, size: Pick<Frame, 'w' | 'h'>): void
}
