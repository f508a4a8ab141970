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
import type { Operation } from './permissions/roles.ts'

export { roles, type Caller, type Operation, type Role, type Scene } from './permissions/roles.ts'
export { socketPermissions } from './permissions/sockets.ts'

/** By method and path of the route; several where its body makes a difference. */
export const permissions: Record<string, Operation[]> = {
  ...cards,
  ...boards,
  ...search,
  ...exchange,
  ...files,
  ...accounts,
  ...people,
  ...webhooks,
  ...agents,
}
