/**
 * Who may do what, as data: one row for each operation of the API and of the socket. A route without a row fails the
 * test.
 */
import { accounts } from './permissions/accounts.ts'
import { agents } from './permissions/agents.ts'
import { boards } from './permissions/boards.ts'
import { cards } from './permissions/cards.ts'
import { exchange } from './permissions/exchange.ts'
import { files } from './permissions/files.ts'
import { people } from './permissions/people.ts'
import { search } from './permissions/search.ts'
import { webhooks } from './permissions/webhooks.ts'
import { sessions } from './permissions/sessions.ts'
import { withSessions, type FullOperation, type Operation } from './permissions/roles.ts'

export {
  roles,
  sessionRoles,
  type Caller,
  type FullOperation as Operation,
  type Role,
  type Scene,
  type SessionRole,
} from './permissions/roles.ts'
export { listPermissions, socketPermissions } from './permissions/sockets.ts'

const tables: Record<string, Operation[]> = {
  ...cards,
  ...boards,
  ...search,
  ...exchange,
  ...files,
  ...accounts,
  ...people,
  ...webhooks,
  ...agents,
  ...sessions,
}

/** By method and path of the route; several where its body makes a difference. */
export const permissions: Record<string, FullOperation[]> = Object.fromEntries(
  Object.entries(tables).map(([route, operations]) => [
    route,
    operations.map((operation) => withSessions(route, operation)),
  ]),
)
