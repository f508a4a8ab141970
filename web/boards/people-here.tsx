/** How many people have each board open, this person included. */
import { createContext, use, type ReactNode } from 'react'

/** A board that is not in it has nobody. */
export type PeopleByBoard = ReadonlyMap<string, number>
export const nobody: PeopleByBoard = new Map()
export const PeopleContext = createContext(nobody)

/** @param id of the element, for what it describes */
export function PeopleHere({ boardId, id }: { boardId: string; id?: string }): ReactNode {
  const count = use(PeopleContext).get(boardId) ?? 0
  if (count === 0) return null
  const says = count === 1 ? '1 person is here' : `${count} people are here`
  // The style shows the number: as a text it would belong to the board's name.
  return <span id={id} className="people-here" role="img" aria-label={says} title={says} data-count={count} />
}
