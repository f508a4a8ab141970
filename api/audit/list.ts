import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, since, sinceOf } from '../feed.ts'
import { pageOf } from '../page.ts'
import { route } from '../route.ts'
import { nullable, pageQuery, timestamp, uuid } from '../schemas.ts'

const query = Type.Object({
  since,
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: 'The `next_cursor` of the page before.' }),
  ),
  limit: pageQuery.limit,
})

const entryAnswer = Type.Object({
  id: Type.String(),
  occurred_at: timestamp,
  action: Type.String({ description: 'Such as `board.create`, `card.update`, `image.read`.' }),
  actor: Type.Object({
    user_id: uuid,
    display_name: nullable(Type.String()),
    token_id: nullable(uuid),
    service_account_id: nullable(uuid),
    client_id: nullable(Type.String()),
  }),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  workspace_id: nullable(uuid),
  board_id: nullable(uuid),
  resource: Type.Object({ type: nullable(Type.String()), id: nullable(Type.String()) }),
  request_id: Type.String(),
  ip: Type.String(),
})

interface AuditRow {
  id: number
  occurred_at: Date
  action: string
  user_id: string
  display_name: string | null
  token_id: string | null
  service_account_id: string | null
  client_id: string | null
  method: string
  path: string
  status: number
  workspace_id: string | null
  board_id: string | null
  resource_type: string | null
  resource_id: string | null
  request_id: string
  ip: string
}

/** Where a walk stands, and which of the two it is: `after` follows what comes, `before` goes back in time. */
interface Walk {
  at: Date
  id: number
  direction: 'after' | 'before'
}

export const listAudit = route({
  method: 'GET',
  path: '/audit',
  scope: 'read',
  summary: 'What was written by way of the API, and images that were read: the newest first, or follow it.',
  schemas: { query },
  answers: {
    200: Type.Object({
      entries: Type.Array(entryAnswer),
      limit: Type.Integer(),
      has_more: Type.Boolean(),
      next_cursor: nullable(Type.String()),
    }),
  },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query)
    const rows = await database.asUser(principal.userId, async (tx) =>
      auditEntries(tx, walk, walk.direction === 'after' ? await feedHorizon(tx) : null, limit),
    )
    const { page, end } = feedEnd(rows, limit, {
      from: { at: walk.at, id: String(walk.id) },
      positionOf: ({ occurred_at: at, id }) => ({ at, id: String(id) }),
      cursorOf: ({ at, id }) => `${walk.direction}|${at.toISOString()}|${id}`,
    })
    const next_cursor = walk.direction === 'after' || end.has_more ? end.next_cursor : null
    return { body: { entries: page.map(presentEntry), ...end, next_cursor } }
  },
})

/** The caller's own, and those of the workspaces that are theirs: each along its own index. */
function auditEntries(tx: Transaction, { at, id, direction }: Walk, horizon: Date | null, limit: number) {
  const page =
    direction === 'after'
      ? tx`
          and (a.occurred_at, a.id) > (${at}, ${id}) and a.occurred_at < ${horizon}
          order by a.occurred_at, a.id
          limit ${limit + 1}`
      : tx`
          and (a.occurred_at, a.id) < (${at}, ${id})
          order by a.occurred_at desc, a.id desc
          limit ${limit + 1}`
  return tx<AuditRow[]>`
    select a.*
    from (
      (select a.* from audit_entries a where a.user_id = current_user_id() ${page})
      union
      select f.*
      from workspaces w
      cross join lateral (select a.* from audit_entries a where a.workspace_id = w.id ${page}) f
      where w.owner_id = current_user_id()
    ) a
    order by ${direction === 'after' ? tx`a.occurred_at, a.id` : tx`a.occurred_at desc, a.id desc`}
    limit ${limit + 1}`
}

function presentEntry(row: AuditRow) {
  const { user_id, display_name, token_id, service_account_id, client_id } = row
  return {
    id: String(row.id),
    occurred_at: row.occurred_at.toISOString(),
    action: row.action,
    actor: { user_id, display_name, token_id, service_account_id, client_id },
    method: row.method,
    path: row.path,
    status: row.status,
    workspace_id: row.workspace_id,
    board_id: row.board_id,
    resource: { type: row.resource_type, id: row.resource_id },
    request_id: row.request_id,
    ip: row.ip,
  }
}

/** @throws ServiceError `bad_request` */
function walkOf({ since, cursor }: { since?: string; cursor?: string }): Walk {
  if (cursor === undefined) {
    if (since !== undefined) return { at: sinceOf(since).at, id: 0, direction: 'after' }
    return { at: endOfTime, id: 0, direction: 'before' }
  }
  const [direction, time = '', id = '', ...more] = cursor.split('|')
  const at = parseTime(time)
  const isWalk = direction === 'after' || (direction === 'before' && since === undefined)
  if (!isWalk || !at || !/^\d{1,15}$/.test(id) || more.length > 0)
    throw new ServiceError('bad_request', 'cursor must be the next_cursor of an earlier page of the audit.')
  return { at, id: Number(id), direction }
}

const endOfTime = new Date('9999-12-31T00:00:00Z')
