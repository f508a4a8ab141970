/** Positions in the journal of events, and its rows. */

/** The last row of the journal that was read. A `place` of 0: the position before all rows of that time. */
export interface Position {
  at: Date
  place: number
}

export interface JournalEvent extends Position {
  workspace_id: string
  board_id: string | null
  type: string
  /** Null when none of the readers may see the event. */
  payload: string | null
  /** Of the accounts that were asked about, those that may see the event. */
  readers: string[]
  /** Of the accounts, the members of the workspace. */
  members: string[]
  /** Of the minted sessions that were asked about, those that may see the event: their places, from 0. */
  sessions: number[]
}

/** `1772447400123-48211` */
export const eventId = ({ at, place }: Position) => `${at.getTime()}-${place}`

/** @returns null for a text that is no id of an event */
export function positionOf(id: string): Position | null {
  const [, ms, place] = /^(\d{13})-(\d{1,15})$/.exec(id) ?? []
  return ms === undefined ? null : { at: new Date(Number(ms)), place: Number(place) }
}

export const isAfter = (one: Position, other: Position): boolean =>
  one.at.getTime() === other.at.getTime() ? one.place > other.place : one.at > other.at
