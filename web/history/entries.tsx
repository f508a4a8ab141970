/** The changes of a board by days. Each can be shown, looked at, and undone. */
import { Fragment, type ReactNode } from 'react'
import { Failed, More } from '../controls/loading.tsx'
import type { Pages } from '../controls/use-pages.ts'
import { timeText, When } from '../controls/when.tsx'
import { byDay, ways, type HistoryEntry } from './changes.ts'
import { momentOf, type Moment, type View } from './moment.ts'

interface EntriesProps {
  pages: Pages<HistoryEntry>
  keptSince: string | null
  moment: Moment | null
  setMoment(moment: Moment | null): void
  setView(view: View): void
  canWrite: boolean
}

export function Entries({ pages, keptSince, ...shown }: EntriesProps): ReactNode {
  const { rows, fault, hasMore, reload } = pages
  if (rows === null)
    return fault === null ? (
      <p className="quiet" role="status">
        Loading…
      </p>
    ) : (
      <Failed fault={fault} again={reload} />
    )
  const newest = rows[0]
  return (
    <>
      {rows.length === 0 && (
        <p className="quiet">Nothing has changed yet. Changes are listed here as they are made.</p>
      )}
      {byDay(rows, (at) => timeText(at, 'day')).map(([day, entries]) => (
        <Fragment key={day}>
          <h3>{day}</h3>
          <ol className="past-entries">
            {entries.map((entry) => (
              <EntryRow key={entry.position} {...shown} entry={entry} isNewest={entry === newest} />
            ))}
          </ol>
        </Fragment>
      ))}
      {fault !== null && <Failed fault={fault} again={pages.more} />}
      <More of={pages} label="Show older changes" />
      {!hasMore && keptSince !== null && (
        <p className="quiet end">
          The history begins on {timeText(keptSince)}. Of what was before, named versions are kept.
        </p>
      )}
    </>
  )
}

type EntryRowProps = Omit<EntriesProps, 'pages' | 'keptSince'> & { entry: HistoryEntry; isNewest: boolean }

function EntryRow({ entry, isNewest, moment, setMoment, setView, canWrite }: EntryRowProps): ReactNode {
  const isShown = moment ? moment.asOf === String(entry.position) : isNewest
  const way = ways[entry.by]
  const isAgent = entry.by === 'agent'
  return (
    <li aria-current={isShown ? 'true' : undefined}>
      <button
        type="button"
        className="past-entry"
        onClick={() => setMoment(isNewest ? null : momentOf(entry))}
      >
        <span className="quiet">
          <When at={entry.at} as="time" />
          {way !== undefined && <span className={isAgent ? 'tag agent' : 'tag'}>{way}</span>}
        </span>
        <span>{entry.summary}</span>
      </button>
      {isShown && (
        <div className="button-row">
          <button type="button" className="plain" onClick={() => setView({ is: 'entry', entry })}>
            What it changed
          </button>
          {canWrite && canUndo(entry) && (
            <button type="button" className="plain" onClick={() => setView({ is: 'undo', entry })}>
              Undo it…
            </button>
          )}
        </div>
      )}
    </li>
  )
}

/** A change by several people at one moment can't be undone, nor a move between boards. */
const canUndo = ({ by, operation_id: operation, actors }: HistoryEntry) =>
  by !== 'move' && (operation !== null || actors.length === 1)
