/** The history of one card: who changed it and when, what it was, and the way back to that. */
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { More, Shown } from '../controls/loading.tsx'
import { usePages } from '../controls/use-pages.ts'
import { timeText, When } from '../controls/when.tsx'
import { request } from '../service/request.ts'
import { CardThen } from './card-then.tsx'
import { ways, type HistoryEntry } from './changes.ts'

export interface CardHistoryProps {
  boardId: string
  cardId: string
  canWrite: boolean
  close(): void
}

const pageSize = 100

export default function CardHistory({ close, ...card }: CardHistoryProps): ReactNode {
  const { boardId, cardId } = card
  const pages = usePages(`${boardId} ${cardId}`, async (cursor) => {
    const query = { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) }
    const path = { id: boardId, cardId }
    const page = await request('GET /boards/{id}/cards/{cardId}/history', { path, query })
    return { rows: page.entries, next: page.next_cursor }
  })
  const { rows, fault, reload } = pages
  const [entry, choose] = useState<HistoryEntry | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [cardId])
  const back = () => {
    choose(null)
    heading.current?.focus()
  }
  return (
    <aside className="side" aria-label="History of the card">
      <header>
        <h2 ref={heading} tabIndex={-1}>
          History of the card
        </h2>
        <button type="button" className="plain" onClick={close}>
          Close
        </button>
      </header>
      <div className="below">
        {entry ? (
          <CardThen
            {...{ ...card, entry, back }}
            done={async () => {
              await reload()
              back()
            }}
          />
        ) : (
          <Shown of={{ value: rows, fault, reload }}>
            {(entries) => (
              <>
                {entries.length === 0 && (
                  <p className="quiet">Nothing is known of this card yet. Its next change is listed here.</p>
                )}
                <ol className="past-entries">
                  {entries.map((one) => (
                    <li key={`${one.board_id} ${one.position}`}>
                      <EntryButton entry={one} boardId={boardId} choose={() => choose(one)} />
                    </li>
                  ))}
                </ol>
                <More of={pages} label="Show older changes" />
              </>
            )}
          </Shown>
        )}
      </div>
    </aside>
  )
}

interface EntryButtonProps {
  entry: HistoryEntry
  boardId: string
  choose(): void
}

function EntryButton({ entry, boardId, choose }: EntryButtonProps): ReactNode {
  const way = ways[entry.by]
  return (
    <button type="button" className="past-entry" title={timeText(entry.at, 'exact')} onClick={choose}>
      <span className="quiet">
        <When at={entry.at} />
        {way !== undefined && <span className={entry.by === 'agent' ? 'tag agent' : 'tag'}>{way}</span>}
        {entry.board_id !== boardId && <span className="tag">Another board</span>}
      </span>
      <span>{entry.summary}</span>
    </button>
  )
}
