/** What others have selected, in their colours. The own selection is shown to them. */
import { useEffect, useMemo, type ReactNode } from 'react'
import { ViewportPortal } from '@xyflow/react'
import type { Person } from '../../../client/editor/index.ts'
import { useCards, useDrags, usePeople } from '../../../client/react/index.ts'
import { nameOf, whoIs } from '../../board/people.ts'
import { boxOf } from '../geometry.ts'
import { colorOf } from '../person-color.ts'
import { useSurface } from '../surface.ts'

/** A state has at most 16 KB. */
const mostShown = 50

/** Shows the others what is selected here. */
export function useShownSelection(selected: ReadonlySet<string>): void {
  const { board } = useSurface()
  useEffect(() => board.show({ selection: [...selected].slice(0, mostShown) }), [board, selected])
}

export function Selections(): ReactNode {
  const { board } = useSurface()
  const others = usePeople(board).filter(({ isMe }) => !isMe)
  // People move their cursors all the time. Their selections change seldom.
  const key = JSON.stringify(others.flatMap(selectionOf))
  const selections = useMemo(() => JSON.parse(key) as Selection[], [key])
  return selections.length > 0 && <Frames selections={selections} />
}

interface Selection {
  who: string
  name: string
  ids: string[]
}

/** Programs that work through the API tell which cards they use. */
function selectionOf(person: Person): Selection[] {
  const told = person.state['selection'] ?? person.state['card_ids']
  if (!Array.isArray(told)) return []
  const ids = told.filter((id) => typeof id === 'string').slice(0, mostShown)
  return ids.length > 0 ? [{ who: whoIs(person), name: nameOf(person), ids }] : []
}

function Frames({ selections }: { selections: Selection[] }): ReactNode {
  const { board } = useSurface()
  const drags = useDrags(board)
  useCards(board)
  return (
    <ViewportPortal>
      {selections.flatMap(({ who, name, ids }, n) =>
        ids.map((id, at) => {
          const card = board.cards.find(id)
          if (!card) return null
          const { x, y, w, h } = boxOf(card, drags.get(id) ?? card)
          return (
            <div
              key={`${n} ${id}`}
              className="selection-of"
              aria-hidden="true"
              style={{
                ...{ transform: `translate(${x}px, ${y}px)`, width: w, height: h },
                ...{ '--person': colorOf(who) },
              }}
            >
              {at === 0 && <span>{name}</span>}
            </div>
          )
        }),
      )}
    </ViewportPortal>
  )
}
