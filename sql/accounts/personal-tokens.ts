/** Writes the tokens of a user. Run it `asUser`. */
import { endsTokens, type Transaction } from '../database.ts'
import { makeToken, tokenHash, type Scope } from './tokens.ts'

export interface NewPersonalToken {
  /** Id from the form. If the form is sent twice, the second request makes no token. */
  id: string
  name: string
  scopes: Scope[]
  /** Null: the token does not expire. */
  ttlDays: number | null
}

/** @returns the token, which is not stored and cannot be read again; null when it already exists */
export async function makePersonalToken(
  tx: Transaction,
  { id, name, scopes, ttlDays }: NewPersonalToken,
): Promise<string | null> {
  const value = makeToken()
  const [row] = await tx<{ made: boolean }[]>`
    select create_personal_token(
      ${id}, ${name}, ${value.slice(0, 9)}, ${tokenHash(value)}, ${scopes}, ${ttlDays}
    ) as made`
  return row!.made ? value : null
}

/** @returns false when the account has no such token, or it is already revoked */
export async function revokePersonalToken(tx: Transaction, id: string): Promise<boolean> {
  endsTokens(tx)
  const [row] = await tx<{ done: boolean }[]>`select revoke_personal_token(${id}) as done`
  return row!.done
}
