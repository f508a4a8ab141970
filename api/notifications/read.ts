import Type from 'typebox'
import { flag, integer, listOf, text, uuid } from '../http/vocabulary.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { parseTime } from '../http/feed.ts'
import { route } from '../http/route.ts'

const { byIds, byTime } = limits.markedRead

export const markNotificationsRead = route('POST /notifications/read', 'write', {
  summary: 'Mark notifications of the account as read.',
  description:
    'Send `ids` or `before`. What is read already stays as it is, so the request can be repeated. Ids that are not notifications of the account are ignored.',
  schemas: {
    body: Type.Object({
      ids: Type.Optional(listOf(uuid, byIds, 'Ids of the notifications.')),
      before: Type.Optional(
        text(
          'Marks all up to this time, those of this very time included: the `created_at` of the newest one that was shown.',
          { format: 'date-time' },
        ),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      read: integer('How many notifications were unread, and are read now.'),
      has_more: flag(
        `True when \`before\` covers more than ${byTime} unread notifications. The oldest ones are marked: send the request again for the others.`,
      ),
    }),
  },
  async handle({ database }, { principal, body: { ids, before } }) {
    if ((ids === undefined) === (before === undefined))
      throw badRequest('Exactly one of ids and before is required.')
    const until = before === undefined ? null : parseTime(before)
    if (before !== undefined && !until)
      throw badRequest('before must be an RFC 3339 time such as 2026-01-31T09:00:00.000Z.')
    const { count } = await database.asUser(
      principal.userId,
      (tx) => tx`
        with unread as (
          select n.id
          from notifications n
          where n.user_id = current_user_id() and n.read_at is null
            and ${until ? tx`n.created_at <= ${until}` : tx`n.id = any (${ids!}::uuid[])`}
          order by n.created_at, n.id -- all requests lock in this order
          limit ${byTime}
          for update
        )
        update notifications n
        set read_at = date_trunc('milliseconds', clock_timestamp())
        from unread
        where n.id = unread.id`,
    )
    return { body: { read: count, has_more: count === byTime } }
  },
})
