/** The dates of a board, and publishing them. */
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Dialog } from '../../controls/dialog.tsx'
import { Shown } from '../../controls/loading.tsx'
import { useLoaded } from '../../controls/use-loaded.ts'
import { timeText } from '../../controls/when.tsx'
import { changeBoard, changeSchedule, readBoard, type Board } from '../../service/boards.ts'

interface ScheduleProps {
  id: string
  changed(board: Board): void
  close(): void
}

export function Schedule({ id, changed, close }: ScheduleProps): ReactNode {
  const board = useLoaded(id, () => readBoard(id))
  return (
    <Dialog title="Schedule" close={close}>
      <Shown of={board}>{(before) => <Form {...{ before, changed }} />}</Shown>
    </Dialog>
  )
}

/** The date, the end and the label as the fields have them. */
const fieldsOf = ({ scheduled_date: date, scheduled_end: end, day_label: label }: Board) => ({
  date: date ?? '',
  end: end ?? '',
  label: label ?? '',
})

function Form({ before, changed }: { before: Board; changed(board: Board): void }): ReactNode {
  const [board, setBoard] = useState(before)
  const [fields, setFields] = useState(fieldsOf(before))
  const [quiet, setQuiet] = useState(false)
  const { fault, run } = useRun(setBoard)
  useEffect(() => {
    setFields(fieldsOf(board))
    if (board !== before) changed(board)
  }, [board, before, changed])
  const isChanged = JSON.stringify(fields) !== JSON.stringify(fieldsOf(board))
  const save = (event: FormEvent) => {
    event.preventDefault()
    const { date, end, label } = fields
    const changes = {
      scheduled_date: date || null,
      scheduled_end: end || null,
      day_label: label.trim() || null,
    }
    void run(() => changeBoard(board.id, { ...changes, notify: !quiet }))
  }
  const field = (name: keyof typeof fields) => ({
    value: fields[name],
    onChange: ({ target }: { target: HTMLInputElement }) => setFields({ ...fields, [name]: target.value }),
  })
  return (
    <form className="fields" onSubmit={save}>
      <div className="pair">
        <label>
          Date <input type="date" {...field('date')} />
        </label>
        <label>
          Last day <input type="date" min={fields.date} {...field('end')} />
        </label>
      </div>
      <label>
        Name of the day <input maxLength={200} placeholder="Day 1" {...field('label')} />
      </label>
      {board.sched_status !== 'draft' && (
        <label className="choice">
          <input type="checkbox" checked={quiet} onChange={({ target }) => setQuiet(target.checked)} />
          Save without telling anybody
        </label>
      )}
      {fault !== null && <p role="alert">{fault}</p>}
      <button type="submit" className="main">
        Save
      </button>
      <Publishing {...{ board, isChanged, run }} />
    </form>
  )
}

interface PublishingProps {
  board: Board
  isChanged: boolean
  run(work: () => Promise<Board>): Promise<void>
}

function Publishing({ board, isChanged, run }: PublishingProps): ReactNode {
  const { id, sched_status: status } = board
  const change = (action: 'publish' | 'cancel') => void run(() => changeSchedule(id, action))
  return (
    <fieldset>
      <legend>Publishing</legend>
      <p role="status">{statusText(board)}</p>
      {isChanged && <p className="quiet">Save the changes before you publish.</p>}
      <div className="actions">
        <button type="button" disabled={isChanged} onClick={() => change('publish')}>
          {status === 'draft' ? 'Publish' : 'Publish again'}
        </button>
        {status === 'published' && (
          <button type="button" onClick={() => change('cancel')}>
            Cancel the schedule
          </button>
        )}
      </div>
    </fieldset>
  )
}

function statusText({ sched_status: status, sched_version: version, sched_published_at: at }: Board): string {
  if (status === 'published')
    return `Version ${version} was published${at === null ? '' : ` on ${timeText(at)}`}. Everybody who sees the board is told when its dates change.`
  if (status === 'cancelled') return 'The schedule is cancelled. Publish it again to take that back.'
  return 'This is a draft: nobody is told of changes.'
}

/**
 * Runs one change at a time, and keeps what the service says against it. The buttons stay enabled meanwhile: the focus
 * leaves a button that is disabled.
 */
function useRun(show: (board: Board) => void) {
  const [fault, setFault] = useState<string | null>(null)
  const isBusy = useRef(false)
  const run = async (work: () => Promise<Board>) => {
    if (isBusy.current) return
    isBusy.current = true
    try {
      show(await work())
      setFault(null)
    } catch (error) {
      setFault((error as Error).message)
    }
    isBusy.current = false
  }
  return { fault, run }
}
