import Type from 'typebox'
import type { Transaction } from '../../sql/database.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { named } from '../http/named.ts'
import { boardId, cursorAnswer, nullable, timestamp, uuid, workspaceId } from '../http/schemas.ts'
import { walkEnd, walkHorizon, walkOf, walkQuery, type Walk, type WalkedList } from '../http/walk.ts'

const entryAnswer = named(
  'AuditEntry',
  Type.Object({
    id: Type.String({ description: 'Id of the entry.' }),
    occurred_at: { ...timestamp, description: 'When it happened.' },
    action: Type.String({
      description: 'What was done, such as `board.create`, `card.update`, `image.read`.',
    }),
    actor: Type.Object(
      {
        user_id: { ...uuid, description: 'Id of the account.' },
        display_name: nullable(Type.String({ description: 'Name of the account at that time.' })),
        token_id: nullable({
          ...uuid,
          description: 'Id of the token. Null when none was used, as in the settings.',
        }),
        service_account_id: nullable({
          ...uuid,
          description: 'Id of the service account. Null when a person did it.',
        }),
        client_id: nullable(
          Type.String({
            description: 'OAuth client id of the connected application. Null for other tokens.',
          }),
        ),
      },
      { description: 'Who did it.' },
    ),
    method: Type.String({ description: 'Method of the request.' }),
    path: Type.String({ description: 'Path of the request, without its query.' }),
    status: Type.Integer({ description: 'HTTP status of the answer.' }),
    workspace_id: nullable(workspaceId),
    board_id: nullable(boardId),
    resource: Type.Object(
      {
        type: nullable(Type.String({ description: 'Type of the resource, such as `card`.' })),
        id: nullable(Type.String({ description: 'Id of the resource.' })),
      },
      { description: 'What was written or read.' },
    ),
    request_id: Type.String({ description: 'Id of the request, as in the header `x-request-id`.' }),
    ip: Type.String({ description: 'IP address of the client.' }),
  }),
  'A resource that was written or read.',
)

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

/** Most entries in one row of `audit_operations`. The ids of rows are this far apart. */
const mostEntries = 1000

const audit: WalkedList = { name: 'the audit', isId: (id) => /^\d{1,15}$/.test(id), firstId: '0' }

export const listAudit = route({
  method: 'GET',
  path: '/audit',
  scope: 'read',
  summary: 'List writes and image reads, newest first. With `since`: a feed of new entries.',
  schemas: { query: Type.Object(walkQuery) },
  answers: {
    200: Type.Object({
      entries: Type.Array(entryAnswer, { description: 'The entries of this page.' }),
      ...cursorAnswer,
    }),
  },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query, audit)
    const rows = await database.asUser(principal.userId, async (tx) =>
      auditEntries(tx, walk, await walkHorizon(tx, walk), limit),
    )
    const positionOf = ({ occurred_at: at, id }: AuditRow) => ({ at, id: String(id) })
    const { page, end } = walkEnd(rows, limit, walk, positionOf)
    return { body: { entries: page.map(presentEntry), ...end } }
  },
})

/** Entries of the caller, and of all workspaces that the caller owns. Each part reads its own index. */
function auditEntries(tx: Transaction, walk: Walk | null, horizon: Date | null, limit: number) {
  const at = walk?.at ?? null
  const id = Number(walk?.id ?? 0)
  const since = horizon && tx`and a.occurred_at < ${horizon} and (a.occurred_at, a.id) > `
  const bound = !walk
    ? tx``
    : since
      ? tx`${since} (${at}, ${id})`
      : tx`and (a.occurred_at, a.id) < (${at}, ${id})`
  // The last page may have ended within an operation. The operation's own id is then before the id in the cursor.
  const operationBound = since
    ? tx`${since} (${at}, ${id - mostEntries}) and (a.occurred_at > ${at} or a.id + cardinality(a.resource_ids) - 1 > ${id})`
    : bound
  const order = since ? tx`a.occurred_at, a.id` : tx`a.occurred_at desc, a.id desc`
  const operations = tx`${operationBound} order by ${order} limit ${limit + 1}`
  return tx<AuditRow[]>`
    select a.*
    from (
      select o.id + e.place - 1 as id, o.occurred_at, o.action, o.user_id, o.display_name, o.token_id, o.service_account_id,
        o.client_id, o.method, o.path, o.status, o.workspace_id,
        case o.resource_type when 'board' then e.id::uuid else o.board_id end as board_id, o.resource_type, e.id as resource_id,
        o.request_id, o.ip
      from (
        (select a.* from audit_operations a where a.user_id = current_user_id() ${operations})
        union
        select f.*
        from workspaces w
        cross join lateral (select a.* from audit_operations a where a.workspace_id = w.id ${operations}) f
        where w.owner_id = current_user_id()
      ) o
      cross join lateral unnest(o.resource_ids) with ordinality as e(id, place)
    ) a
    where true ${bound}
    order by ${order}
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
