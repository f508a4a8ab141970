/** What the canvas shows of the history, and what the panel lists. */
import type { HistoryEntry } from './changes.ts'

/** A moment that the canvas shows. */
export interface Moment {
  /** A position of the history, or the id of a named version. */
  asOf: string
  at: string
  /** The name of a version. */
  name?: string
}

/** What the panel shows below the slider. */
export type View =
  | { is: 'changes' | 'versions' | 'restore' | 'name' | 'since' }
  | { is: 'entry' | 'undo'; entry: HistoryEntry }

export const momentOf = ({ position, at }: HistoryEntry): Moment => ({ asOf: String(position), at })
