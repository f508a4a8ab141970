import Type from 'typebox'
import { id, list, named, nullable, text, time } from '../http/vocabulary.ts'
import { presentNotification, type NotificationRow } from '../../core/notification.ts'
import type { Transaction } from '../../sql/database.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { limits } from '../../core/limits.ts'
import { boardId, createdAt, cursorPage, uuidPattern, workspaceId } from '../http/schemas.ts'
import { walkEnd, walkHorizon, walkOf, walkQuery, type Walk, type WalkedList } from '../http/walk.ts'

const Notification = named('Notification', 'A message to the account about a change.', {
  id: id('Id of the notification.'),
  type: text('What happened: `schedule.changed` or `webhook.disabled`.'),
  workspace_id: nullable(workspaceId),
  board_id: nullable(boardId),
  data: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'For `schedule.changed`: the board’s name and schedule, the schedule `before`, and the `actor`. For `webhook.disabled`: `webhook_id`, `name`, `url` and `reason`.',
    },
  ),
  created_at: createdAt,
  read_at: nullable(time('When the account marked it as read. Null: not yet.')),
})

const notifications: WalkedList = {
  name: 'the notifications',
  isId: (id) => uuidPattern.test(id),
  firstId: '',
}

export const listNotifications = route('GET /notifications', 'read', {
  summary: 'List the notifications of the account, newest first. With `since`: a feed of new ones.',
  description: `Notifications are kept for ${limits.notificationDays} days.`,
  schemas: { query: Type.Object(walkQuery) },
  answers: { 200: cursorPage({ notifications: list(Notification, 'The notifications of this page.') }) },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query, notifications)
    const rows = await database.asUser(principal.userId, async (tx) =>
      readNotifications(tx, walk, await walkHorizon(tx, walk), limit),
    )
    const { page, end } = walkEnd(rows, limit, walk, ({ created_at: at, id }) => ({ at, id }))
    return { body: { notifications: page.map(presentNotification), ...end } }
  },
})

/** Leaves out notifications about boards that the account can no longer see. */
function readNotifications(tx: Transaction, walk: Walk | null, horizon: Date | null, limit: number) {
  const bound = !walk
    ? tx``
    : horizon
      ? tx`and (n.created_at, n.id) > (${walk.at}, ${walk.id || beforeAll}) and n.created_at < ${horizon}`
      : tx`and (n.created_at, n.id) < (${walk.at}, ${walk.id})`
  return tx<NotificationRow[]>`
    select n.id, n.type, n.workspace_id, n.board_id, n.data, n.created_at, n.read_at
    from notifications n
    where n.user_id = current_user_id()
      and (n.board_id is null or exists (select from boards b where b.id = n.board_id))
      ${bound}
    order by ${horizon ? tx`n.created_at, n.id` : tx`n.created_at desc, n.id desc`}
    limit ${limit + 1}`
}

const beforeAll = '00000000-0000-0000-0000-000000000000'
