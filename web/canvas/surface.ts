/** What every card on the canvas may use. */
import { createContext, useContext } from 'react'
import type { OpenBoard } from '../board/board.ts'

export interface Surface {
  board: OpenBoard
  canEdit: boolean
  /** The id of the card that is being edited. */
  editing: string | null
  edit(id: string | null): void
}

export const SurfaceContext = createContext<Surface | null>(null)

export function useSurface(): Surface {
  const surface = useContext(SurfaceContext)
  if (!surface) throw new Error('This component is for the inside of a canvas.')
  return surface
}
