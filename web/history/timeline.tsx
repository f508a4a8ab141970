/** The slider through the history, and what one can do with the moment that it shows. */
import { useId, type ReactNode } from 'react'
import { timeText } from '../controls/when.tsx'
import type { HistoryEntry } from './changes.ts'
import { momentOf, type Moment, type View } from './moment.ts'

interface TimelineProps {
  /** The newest first. */
  entries: readonly HistoryEntry[]
  moment: Moment | null
  setMoment(moment: Moment | null): void
  setView(view: View): void
  canWrite: boolean
  /** Why the moment can't be shown. */
  fault: string | null
}

/** The place of a moment in the entries: its own, or for a named version that of the last change before it. */
function placeOf({ asOf, at }: Moment, entries: readonly HistoryEntry[]): number {
  const own = entries.findIndex(({ position }) => String(position) === asOf)
  const before = own < 0 ? entries.findIndex((entry) => entry.at <= at) : own
  return before < 0 ? Math.max(0, entries.length - 1) : before
}

export function Timeline({ entries, moment, setMoment, setView, canWrite, fault }: TimelineProps): ReactNode {
  const id = useId()
  // The newest entry is the present. A named version is where the board was like it.
  const newest = Math.max(0, entries.length - 1)
  const index = newest - (moment ? placeOf(moment, entries) : 0)
  const says = moment ? (moment.name ?? timeText(moment.at, 'exact')) : 'Now'
  const move = (to: number) => {
    setMoment(to === newest ? null : momentOf(entries[newest - to]!))
    setView({ is: 'changes' })
  }
  return (
    <section className="timeline" aria-label="The moment that is shown">
      <label htmlFor={id}>
        {moment ? 'The board as it was' : 'The board as it is'}
        <strong>{says}</strong>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={newest}
        value={index}
        disabled={newest === 0}
        aria-valuetext={says}
        onChange={({ target }) => move(Number(target.value))}
      />
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
      <Doings {...{ moment, setMoment, setView, canWrite }} />
    </section>
  )
}

type DoingsProps = Omit<TimelineProps, 'entries' | 'fault'>

/** What one can do with the moment. */
const Doings = ({ moment, setMoment, setView, canWrite }: DoingsProps): ReactNode => (
  <div className="button-row">
    {moment && (
      <button type="button" className="main" onClick={() => setMoment(null)}>
        Back to now
      </button>
    )}
    {moment && canWrite && (
      <button type="button" onClick={() => setView({ is: 'restore' })}>
        Restore…
      </button>
    )}
    {moment && (
      <button type="button" onClick={() => setView({ is: 'since' })}>
        Changed since
      </button>
    )}
    {canWrite && (
      <button type="button" onClick={() => setView({ is: 'name' })}>
        {moment ? 'Name it…' : 'Name this version…'}
      </button>
    )}
  </div>
)
