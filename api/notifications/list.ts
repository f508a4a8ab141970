import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { presentNotification, type NotificationRow } from '../../core/notification.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, since, sinceOf, type FeedPosition } from '../feed.ts'
import { pageOf } from '../page.ts'
import { route } from '../route.ts'
import { nullable, pageQuery, timestamp, uuid, uuidPattern } from '../schemas.ts'

const query = Type.Object({
  since,
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: 'The `next_cursor` of the page before.' }),
  ),
  limit: pageQuery.limit,
})

const notificationAnswer = Type.Object({
  id: uuid,
  type: Type.String({ description: '`schedule.changed`' }),
  workspace_id: nullable(uuid),
  board_id: nullable(uuid),
  data: Type.Object({}, { additionalProperties: true }),
  created_at: timestamp,
})

/** Where a walk stands, and which of the two it is: `after` follows what comes, `before` goes back in time. */
interface Walk extends FeedPosition {
  direction: 'after' | 'before'
}

export const listNotifications = route({
  method: 'GET',
  path: '/notifications',
  scope: 'read',
  summary: 'List what the account was told, the newest first, or follow it.',
  schemas: { query },
  answers: {
    200: Type.Object({
      notifications: Type.Array(notificationAnswer),
      limit: Type.Integer(),
      has_more: Type.Boolean(),
      next_cursor: nullable(Type.String()),
    }),
  },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query)
    const rows = await database.asUser(principal.userId, async (tx) =>
      walk?.direction === 'after'
        ? tx<NotificationRow[]>`${newer(tx, walk, await feedHorizon(tx), limit)}`
        : tx<NotificationRow[]>`${older(tx, walk, limit)}`,
    )
    const direction = walk?.direction ?? 'before'
    const { page, end } = feedEnd(rows, limit, {
      from: walk ?? { at: new Date(0), id: null },
      positionOf: ({ created_at: at, id }) => ({ at, id }),
      cursorOf: ({ at, id }) => `${direction}|${at.toISOString()}|${id ?? ''}`,
    })
    const next_cursor = direction === 'after' || end.has_more ? end.next_cursor : null
    return { body: { notifications: page.map(presentNotification), ...end, next_cursor } }
  },
})

/** What is told of a board ends with the right to see it. */
const visible = (tx: Transaction) => tx`
  select n.id, n.type, n.workspace_id, n.board_id, n.data, n.created_at
  from notifications n
  where n.user_id = current_user_id()
    and (n.board_id is null or exists (select from boards b where b.id = n.board_id))`

const newer = (tx: Transaction, { at, id }: FeedPosition, horizon: Date, limit: number) => tx`
  ${visible(tx)} and (n.created_at, n.id) > (${at}, ${id ?? beforeAll}) and n.created_at < ${horizon}
  order by n.created_at, n.id
  limit ${limit + 1}`

const older = (tx: Transaction, from: FeedPosition | null, limit: number) => tx`
  ${visible(tx)} ${from ? tx`and (n.created_at, n.id) < (${from.at}, ${from.id})` : tx``}
  order by n.created_at desc, n.id desc
  limit ${limit + 1}`

const beforeAll = '00000000-0000-0000-0000-000000000000'

/** Null: from the newest on. @throws ServiceError `bad_request` */
function walkOf({ since, cursor }: { since?: string; cursor?: string }): Walk | null {
  if (cursor === undefined) return since === undefined ? null : { ...sinceOf(since), direction: 'after' }
  const [direction, time = '', id = '', ...more] = cursor.split('|')
  const at = parseTime(time)
  const isWalk = direction === 'after' || (direction === 'before' && since === undefined && id !== '')
  if (!isWalk || !at || (id !== '' && !uuidPattern.test(id)) || more.length > 0)
    throw new ServiceError(
      'bad_request',
      'cursor must be the next_cursor of an earlier page of the notifications.',
    )
  return { at, id: id || null, direction }
}
