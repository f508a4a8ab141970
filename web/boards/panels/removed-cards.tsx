/** The cards that were removed from the open board, to bring them back. */
import { useState, type ReactNode } from 'react'
import { useAction } from '../../controls/ask.tsx'
import { Shown } from '../../controls/loading.tsx'
import { useLoaded } from '../../controls/use-loaded.ts'
import { When } from '../../controls/when.tsx'
import { bringBack, readRemovals, readRemovedCards, type Removal } from '../../service/removed-cards.ts'

interface RemovedCardsProps {
  boardId: string
  /** The board's name. */
  name: string
  canWrite: boolean
}

export function RemovedCards({ boardId, name, canWrite }: RemovedCardsProps): ReactNode {
  const removals = useLoaded(boardId, () => readRemovals(boardId))
  return (
    <section>
      <h3>Cards removed from “{name}”</h3>
      <Shown of={removals}>
        {(all) =>
          all.length === 0 ? (
            <p role="status">No card was removed lately.</p>
          ) : (
            <ul className="entries">
              {all.map((removal) => (
                <Entry key={removal.before} {...{ boardId, removal, canWrite }} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  )
}

interface EntryProps {
  boardId: string
  removal: Removal
  canWrite: boolean
}

function Entry({ boardId, removal, canWrite }: EntryProps): ReactNode {
  const { at, actors, counts } = removal
  const [isOpen, setOpen] = useState(false)
  const who = actors.map(({ display_name: name }) => name ?? 'Somebody').join(', ') || 'Somebody'
  const what = counts.removed === 1 ? 'a card' : `${counts.removed} cards`
  return (
    <li>
      <span className="what">
        <span>
          {who} removed {what}.
        </span>
        <span className="quiet">
          <When at={at} />
        </span>
      </span>
      {isOpen ? (
        <Cards {...{ boardId, removal, canWrite }} />
      ) : (
        <button type="button" aria-label={`Show what ${who} removed`} onClick={() => setOpen(true)}>
          Show
        </button>
      )}
    </li>
  )
}

function Cards({ boardId, removal, canWrite }: EntryProps): ReactNode {
  const removed = useLoaded(String(removal.before), () => readRemovedCards(boardId, removal))
  const { run, fault } = useAction()
  return (
    <Shown of={removed}>
      {(cards) =>
        cards.length === 0 ? (
          <p role="status">They are on the board again.</p>
        ) : (
          <div className="cards">
            <ul>
              {cards.map(({ id, name }) => (
                <li key={id}>{name}</li>
              ))}
            </ul>
            {fault !== null && <p role="alert">{fault}</p>}
            {canWrite && (
              <button
                type="button"
                onClick={() =>
                  void run(async () => {
                    await bringBack(boardId, removal, cards)
                    await removed.reload()
                  })
                }
              >
                Bring {cards.length === 1 ? 'it' : 'them'} back
              </button>
            )}
          </div>
        )
      }
    </Shown>
  )
}
