/** Service accounts and their tokens: their rows, their form in the API, and the access checks. */
import Type, { type Static } from 'typebox'
import { id, integer, list, named, nullable, text, time } from '../http/vocabulary.ts'
import { ServiceError } from '../../core/errors.ts'
import { idsOf, secretOf, type Made } from '../../sql/made.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import type { Transaction } from '../../sql/database.ts'
import { currentOperation } from '../../sql/operation.ts'
import { mintServiceToken, type NewServiceToken } from '../../sql/accounts/service-accounts.ts'
import { openSecret, sealSecret } from '../http/idempotency/secret.ts'
import { createdAt, workspaceId } from '../http/schemas.ts'

const accountId = id('Id of the service account.')
export const accountParams = Type.Object({ id: accountId })

export const ServiceAccount = named(
  'ServiceAccount',
  'An account for an unattended integration. It belongs to a workspace and has tokens. It can’t sign in.',
  {
    id: accountId,
    workspace_id: workspaceId,
    name: text('Name of the service account, for people.'),
    created_at: createdAt,
    retired_at: nullable(time('When it was retired. Null while it is in use.')),
  },
)

export const Token = named('Token', 'An access token, without its secret part.', {
  id: id('Id of the token.'),
  name: text('Name of the token, for people.'),
  prefix: text('The first characters of the token, to recognise it by.'),
  scopes: list(Type.String(), 'What the token may do: `read`, `write`, `delete`.'),
  rate_limit: nullable(
    integer('Requests that the token may send in an hour. Null: the default of this instance.'),
  ),
  created_at: createdAt,
  expires_at: nullable(time('When it expires. Null: never.')),
  last_used_at: nullable(time('When it was last used, to the minute. Null: never.')),
  revoked_at: nullable(time('When it was revoked. Null: it was not.')),
})

/** Rows are answers as they are. */
export type ServiceAccountRow = Static<typeof ServiceAccount>
export type TokenRow = Static<typeof Token>

export const accessToken = text('The token itself. It is not shown again.')

export const accountColumns = (tx: Transaction) =>
  tx`s.id, s.workspace_id, s.name, s.created_at, s.retired_at`

export const tokenColumns = (tx: Transaction) => tx`
  t.id, t.name, t.prefix, t.scopes, t.rate_limit, t.created_at, t.expires_at, t.last_used_at, t.revoked_at`

/** @throws ServiceError `not_found` when the account can't see the workspace; `forbidden` when it does not own it */
export async function requireOwner(tx: Transaction, workspaceId: string): Promise<void> {
  const [workspace] = await tx<{ own: boolean }[]>`
    select owner_id = current_user_id() as own from workspaces where id = ${workspaceId}`
  if (!workspace) throw new ServiceError('not_found', 'No such workspace.')
  if (!workspace.own) throw notManaged()
}

/** @throws ServiceError `not_found`; `forbidden` when the caller is a member of the workspace, but not its owner */
export async function requireAccount(tx: Transaction, id: string): Promise<ServiceAccountRow> {
  const [found] = await tx<{ access: string | null }[]>`select service_account_access(${id}) as access`
  if (!found?.access) throw noAccount()
  if (found.access !== 'write') throw notManaged()
  const [row] = await tx<ServiceAccountRow[]>`
    select ${accountColumns(tx)} from service_accounts s where s.id = ${id}`
  if (!row) throw noAccount()
  return row
}

/** @throws ServiceError `conflict` when the account is retired */
export async function mint(
  tx: Transaction,
  answers: Encryption,
  token: NewServiceToken,
): Promise<{ token: TokenRow; access_token: string }> {
  const minted = await mintServiceToken(tx, token)
  if (!minted) throw new ServiceError('conflict', 'This service account is retired. Create a new one.')
  const [row] = await tx<TokenRow[]>`select ${tokenColumns(tx)} from tokens t where t.id = ${minted.id}`
  const sealed = sealSecret(answers, minted.id, minted.value)
  currentOperation()?.made([
    { type: 'new', id: token.accountId },
    { type: 'secret', id: minted.id, sealed },
  ])
  return { token: row!, access_token: minted.value }
}

/** The result of an earlier `mint` again, for a repeated request. */
export async function remint(tx: Transaction, answers: Encryption, made: Made[]) {
  const { id, sealed } = secretOf(made)
  await requireAccount(tx, idsOf(made)[0]!)
  const [row] = await tx<TokenRow[]>`select ${tokenColumns(tx)} from tokens t where t.id = ${id}`
  return { token: row!, access_token: openSecret(answers, id, sealed) }
}

const noAccount = () => new ServiceError('not_found', 'There is no service account with this id.')
const notManaged = () =>
  new ServiceError('forbidden', 'Only the owner of the workspace can manage its service accounts.')
