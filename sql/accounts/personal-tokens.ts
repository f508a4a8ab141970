/** Writes the tokens of a person, as that person: run it `asUser`. */
import { endsTokens, type Transaction } from '../database.ts'
import { makeToken, tokenHash, type Scope } from './tokens.ts'

export interface NewPersonalToken {
  /** Of a form: sent again, it makes no second token. */
  id: string
  name: string
  scopes: Scope[]
  /** Null: until it is revoked. */
  ttlDays: number | null
}

/** @returns the token itself, this once; null when it was made already */
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

/** @returns whether the account has such a token that was not revoked yet */
export async function revokePersonalToken(tx: Transaction, id: string): Promise<boolean> {
  endsTokens(tx)
  const [row] = await tx<{ done: boolean }[]>`select revoke_personal_token(${id}) as done`
  return row!.done
}
