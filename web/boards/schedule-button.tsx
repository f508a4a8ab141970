/** The schedule of the open board in its header, and for those who may change it the way to its dialog. */
import { type ReactNode } from 'react'
import type { Board } from '../service/boards.ts'
import { span } from './dates.ts'
import { useDesk } from './desk.ts'

interface ScheduleButtonProps {
  board: Board
  readOnly: boolean
  changed(board: Board): void
}

export function ScheduleButton({ board, readOnly, changed }: ScheduleButtonProps): ReactNode {
  const { show } = useDesk()
  const { scheduled_date: date, scheduled_end: end, day_label: label, sched_status: status } = board
  const words = [label, date && span(date, end)].filter(Boolean).join(' · ')
  const isEmpty = date === null && status === 'draft'
  const text = isEmpty ? 'Schedule' : `${words || 'Schedule'} (${status})`
  if (readOnly) return isEmpty ? null : <span className="quiet">{text}</span>
  return (
    <button
      type="button"
      className={`plain schedule ${status}`}
      title={label ?? undefined}
      onClick={() =>
        show(async () => {
          const { Schedule } = await import('./panels/schedule.tsx')
          return ({ close }) => <Schedule id={board.id} {...{ changed, close }} />
        })
      }
    >
      {text}
    </button>
  )
}
