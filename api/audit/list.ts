import Type, { type Static } from 'typebox'
import { flag, id, integer, list, named, nullable, object, text, time } from '../http/vocabulary.ts'
import { namesOf } from '../../sql/accounts/session-users.ts'
import type { Transaction } from '../../sql/database.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, cursorPage, workspaceId } from '../http/schemas.ts'
import { presentSessionUser, sessionUser } from '../http/session-user.ts'
import { walkEnd, walkHorizon, walkOf, walkQuery, type Walk, type WalkedList } from '../http/walk.ts'

const entryAnswer = named('AuditEntry', 'A resource that was written or read.', {
  id: text('Id of the entry.'),
  occurred_at: time('When it happened.'),
  action: text('What was done, such as `board.create`, `card.update`, `image.read`.'),
  actor: object('Who did it.', {
    user_id: id('Id of the account.'),
    display_name: nullable(text('Name of the account at that time. Null when the account was deleted.')),
    token_id: nullable(id('Id of the token. Null when none was used, as in the settings.')),
    service_account_id: nullable(
      id('Id of the service account; for a session, of the one that minted it. Null when a person did.'),
    ),
    session_user: sessionUser,
    client_id: nullable(text('OAuth client id of the connected application. Null for other tokens.')),
    guest: Type.Optional(flag('Present and true for a guest who came by a link.')),
  }),
  method: text('Method of the request.'),
  path: text('Path of the request, without its query.'),
  status: integer('HTTP status of the answer.'),
  workspace_id: nullable(workspaceId),
  board_id: nullable(boardId),
  resource: object('What was written or read.', {
    type: nullable(text('Type of the resource, such as `card`.')),
    id: nullable(text('Id of the resource.')),
  }),
  request_id: text('Id of the request, as in the header `x-request-id`.'),
  ip: text('IP address of the client. Empty when the account was deleted.'),
})

type Entry = Static<typeof entryAnswer>
type AuditRow = Omit<Entry, 'id' | 'actor' | 'resource'> &
  Omit<Entry['actor'], 'guest' | 'session_user'> & {
    guest: boolean
    id: number
    resource_type: string | null
    resource_id: string | null
  }

/** Most entries in one row of `audit_operations`. The ids of rows are this far apart. */
const mostEntries = 1000

const audit: WalkedList = { name: 'the audit', isId: (id) => /^\d{1,15}$/.test(id), firstId: '0' }

export const listAudit = route('GET /audit', 'read', {
  summary: 'List writes and image reads, newest first. With `since`: a feed of new entries.',
  schemas: { query: Type.Object(walkQuery) },
  answers: { 200: cursorPage({ entries: list(entryAnswer, 'The entries of this page.') }) },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query, audit)
    const rows = await database.asUser(principal.userId, async (tx) =>
      auditEntries(tx, walk, await walkHorizon(tx, walk), limit),
    )
    const positionOf = ({ occurred_at: at, id }: AuditRow) => ({ at, id: String(id) })
    const { page, end } = walkEnd(rows, limit, walk, positionOf)
    const names = await database.asSystem((tx) => namesOf(tx, [...new Set(page.map((row) => row.user_id))]))
    return { body: { entries: page.map((row) => presentEntry(row, names)), ...end } }
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
        o.request_id, o.ip, exists (select from guests g where g.id = o.user_id) as guest
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

function presentEntry(row: AuditRow, names: Awaited<ReturnType<typeof namesOf>>) {
  const shown = presentSessionUser(names.get(row.user_id)?.externalId ?? null, row.display_name)
  const { user_id, display_name, token_id, service_account_id, client_id, guest } = row
  return {
    id: String(row.id),
    occurred_at: row.occurred_at,
    action: row.action,
    actor: {
      ...{ user_id, display_name, token_id, service_account_id, client_id },
      ...shown,
      ...(guest ? { guest } : {}),
    },
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
