/** Who is on the board. A click on somebody follows their view. */
import type { ReactNode } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { usePeople } from '../../client/react/index.ts'
import { nameOf, sortOf, whoIs } from '../board/people.ts'
import { colorOf } from '../canvas/person-color.ts'

interface PeopleProps {
  board: OpenBoard
  following: string | null
  follow(who: string | null): void
}

/** Each account once, however many windows it has. This window is the first. */
export function People({ board, following, follow }: PeopleProps): ReactNode {
  const people = usePeople(board)
  const accounts = new Map(people.filter(({ isMe }) => !isMe).map((person) => [whoIs(person), person]))
  return (
    <ul className="people" aria-label="Who is here">
      <li className="me">You</li>
      {[...accounts].map(([who, person]) => {
        const sort = sortOf(person)
        const name = sort === 'person' ? nameOf(person) : `${nameOf(person)} (${sort})`
        return (
          <li key={who}>
            <button
              type="button"
              className={sort}
              style={{ '--person': colorOf(who) }}
              title={`Follow ${name}`}
              aria-pressed={following === who}
              onClick={() => follow(following === who ? null : who)}
            >
              <span aria-hidden="true">{initials(nameOf(person))}</span>
              <span className="hidden">{name}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}

const initials = (name: string) =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .toUpperCase()
