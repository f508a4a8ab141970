/**
 * Sends new notifications to their accounts' open sockets, once per socket, as a stateless message:
 * `{"type":"notification","notification":{…}}`. Every process learns of all notifications and picks those of its own
 * sockets.
 */
import { presentNotification, type NotificationRow } from '../../core/notification.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import type { Seating } from './seating.ts'
import type { Notified } from '../bus/messages.ts'

export async function bringNotifications(
  { database, seating, log }: { database: Database; seating: Seating; log: Logger },
  notified: Notified[],
): Promise<void> {
  const present = notified.filter(([account]) => seating.isPresent(account))
  if (present.length === 0) return
  try {
    const rows = await database.asSystem(
      (tx) => tx<(NotificationRow & { account: string })[]>`
        select n.id, n.type, n.workspace_id, n.board_id, n.data, n.created_at, n.read_at, n.user_id as account
        from notifications n
        left join boards b on b.id = n.board_id
        where n.id = any (${present.map(([, id]) => id)}::uuid[])
          and (n.board_id is null or board_access(n.user_id, b.id, b.workspace_id) is not null)`,
    )
    for (const { account, ...row } of rows)
      seating.tell(
        account,
        row.workspace_id,
        JSON.stringify({ type: 'notification', notification: presentNotification(row) }),
      )
  } catch (error) {
    log.warn(
      { err: error },
      'sending notifications to open sockets failed; clients can still read them by the API',
    )
  }
}
