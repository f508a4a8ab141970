/** What every card on the canvas may use. */
import { createContext, useContext } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import type { Frames } from './geometry.ts'

export interface Surface {
  board: OpenBoard
  canEdit: boolean
  /** Whether cards can be dragged, resized and turned by the pointer. */
  canMove: boolean
  /** The id of the card that is being edited. */
  editing: string | null
  /** Whether cards are too small to read. */
  isFar: boolean
  edit(id: string | null): void
  select(ids: Iterable<string>): void
  /** Shows a card that is resized or turned, here alone. */
  preview(frames: Frames): void
  /** Shows a layout, here alone. Meanwhile no card can be moved. */
  showLayout(frames: Frames): void
  /** Shows the history of a card. Null: this person has no account, and sees none. */
  showHistory: ((cardId: string) => void) | null
}

export const SurfaceContext = createContext<Surface | null>(null)

export function useSurface(): Surface {
  const surface = useContext(SurfaceContext)
  if (!surface) throw new Error('This component is for the inside of a canvas.')
  return surface
}
