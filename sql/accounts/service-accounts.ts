/** Writes service accounts and their tokens. Run it `asUser`, as the owner of the workspace. */
import { endsTokens, type Transaction } from '../database.ts'
import { makeToken, tokenHash, type Scope } from './tokens.ts'

export interface NewServiceAccount {
  id: string
  workspaceId: string
  name: string
  /** Requests per hour for tokens without a limit of their own. */
  rateLimit: number | null
}

export interface NewServiceToken {
  accountId: string
  name: string
  scopes: Scope[]
  rateLimit: number | null
  ttlDays: number | null
}

export async function createServiceAccount(tx: Transaction, account: NewServiceAccount): Promise<void> {
  const { id, workspaceId, name, rateLimit } = account
  await tx`select create_service_account(${id}, ${workspaceId}, ${name}, ${rateLimit})`
}

/** @returns the token, which cannot be read again, and its id; null when the account is retired */
export async function mintServiceToken(
  tx: Transaction,
  { accountId, name, scopes, rateLimit, ttlDays }: NewServiceToken,
): Promise<{ value: string; id: string } | null> {
  const value = makeToken()
  const [row] = await tx<{ id: string | null }[]>`
    select mint_service_token(
      ${accountId}, ${name}, ${value.slice(0, 9)}, ${tokenHash(value)}, ${scopes}, ${rateLimit}, ${ttlDays}
    ) as id`
  return row?.id ? { value, id: row.id } : null
}

/** Retires an account. This process refuses its tokens at once, others within a second. Its sockets are closed. */
export async function retireServiceAccount(tx: Transaction, accountId: string): Promise<void> {
  endsTokens(tx)
  await tx`select retire_service_account(${accountId})`
}

/** @returns whether the account has such a token */
export async function revokeServiceToken(
  tx: Transaction,
  accountId: string,
  tokenId: string,
): Promise<boolean> {
  endsTokens(tx)
  const [row] = await tx<{ done: boolean }[]>`select revoke_service_token(${accountId}, ${tokenId}) as done`
  return row!.done
}
