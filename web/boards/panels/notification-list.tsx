/** The list of notifications, behind the bell. */
import type { ReactNode } from 'react'
import { Dialog } from '../../controls/dialog.tsx'
import { Shown } from '../../controls/loading.tsx'
import { When } from '../../controls/when.tsx'
import type { Notification } from '../../service/notifications.ts'
import { span } from '../dates.ts'
import { useDesk } from '../desk.ts'

export function NotificationList({ close }: { close(): void }): ReactNode {
  const { list, fault, reload, read } = useDesk().notifications!
  const isAllRead = list?.every(({ read_at: at }) => at !== null)
  return (
    <Dialog title="Notifications" close={close}>
      <Shown of={{ value: list, fault, reload }}>
        {(all) =>
          all.length === 0 ? (
            <p role="status">Nothing yet. You are told here when the date of a published board changes.</p>
          ) : (
            <ul className="entries">
              {all.map((one) => (
                <Entry key={one.id} {...{ one, close }} />
              ))}
            </ul>
          )
        }
      </Shown>
      {isAllRead === false && (
        <button type="button" onClick={() => void read(null)}>
          Mark all as read
        </button>
      )}
    </Dialog>
  )
}

function Entry({ one, close }: { one: Notification; close(): void }): ReactNode {
  const { open, notifications } = useDesk()
  const { id, board_id: boardId, created_at: at, read_at: readAt } = one
  const isUnread = readAt === null
  const act = () => {
    if (isUnread) void notifications?.read(id)
    if (boardId === null) return
    close()
    open(boardId)
  }
  return (
    <li className={isUnread ? 'unread' : undefined}>
      <span className="what">
        <span>
          {isUnread && <span className="hidden">Unread: </span>}
          {textOf(one)}
        </span>
        <span className="quiet">
          <When at={at} />
        </span>
      </span>
      {(boardId !== null || isUnread) && (
        <button type="button" onClick={act}>
          {boardId === null ? 'Mark as read' : 'Open the board'}
        </button>
      )}
    </li>
  )
}

interface Schedule {
  scheduled_date: string | null
  scheduled_end: string | null
  day_label: string | null
}

interface ScheduleChange extends Schedule {
  name: string
  before: Schedule
  actor: { display_name: string | null } | null
}

function textOf({ type, data }: Notification): string {
  if (type === 'schedule.changed') return changeText(data as unknown as ScheduleChange)
  if (type === 'webhook.disabled')
    return `The webhook “${String(data['name'] || data['url'])}” was switched off: ${String(data['reason'])}`
  return `Something happened: ${type}.`
}

function changeText({ name, before, actor, ...now }: ScheduleChange): string {
  const who = actor?.display_name ?? 'Somebody'
  const [from, to] = [whenOf(before), whenOf(now)]
  if (from !== to) return `${who} moved “${name}” from ${from} to ${to}.`
  return `${who} changed the label of “${name}” to “${now.day_label ?? ''}”.`
}

const whenOf = ({ scheduled_date: from, scheduled_end: to }: Schedule) =>
  from === null ? 'no date' : span(from, to)
