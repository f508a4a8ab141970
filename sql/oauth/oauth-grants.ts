/** Writes the grants that accounts give to clients. Run it `asSystem`, except for `disconnectApplication`. */
import { endsTokens, type Transaction } from '../database.ts'
import type { Scope } from '../accounts/tokens.ts'

/** The client id of the service's own app, `web/`. It is built in, so no row of `oauth_clients` has it. */
export const ownClientId = 'corkboard-app'

export interface StoredGrant {
  key: Buffer
  payload: Buffer
  userId: string
  clientId: string
  scopes: Scope[]
}

/** Lifetime of a grant until its first token or code is issued. */
const untilFirstUseSeconds = 600

export async function saveGrant(tx: Transaction, grant: StoredGrant): Promise<void> {
  await tx`
    insert into oauth_grants (key, payload, user_id, client_id, scopes, ends_at)
    values (
      ${grant.key}, ${grant.payload}, ${grant.userId}, ${grant.clientId}, ${grant.scopes},
      now() + ${untilFirstUseSeconds} * interval '1 second'
    )
    on conflict (key) do update set payload = excluded.payload, scopes = excluded.scopes`
}

/** Stores the name and host that the account's list of applications shows. */
export async function describeGrant(
  tx: Transaction,
  key: Buffer,
  { clientName, redirectHost }: { clientName: string; redirectHost: string },
): Promise<void> {
  await tx`
    update oauth_grants set client_name = ${clientName}, redirect_host = ${redirectHost} where key = ${key}`
}

export async function findGrant(tx: Transaction, key: Buffer): Promise<Buffer | null> {
  const [row] = await tx<{ payload: Buffer }[]>`
    select payload from oauth_grants where key = ${key} and revoked_at is null`
  return row?.payload ?? null
}

/**
 * Locks a grant while a token or code is issued under it, and extends its lifetime to at least `lastsSeconds`.
 *
 * @returns the grant's id and its client's name; null when the grant has ended
 */
export async function useGrant(
  tx: Transaction,
  key: Buffer,
  lastsSeconds: number,
): Promise<{ id: string; clientName: string } | null> {
  const [row] = await tx<{ id: string; clientName: string }[]>`
    update oauth_grants
    set ends_at = greatest(ends_at, now() + ${lastsSeconds} * interval '1 second')
    where key = ${key} and revoked_at is null
    returning id, client_name as "clientName"`
  return row ?? null
}

/** Ends a grant and everything issued under it. */
export async function endGrant(tx: Transaction, key: Buffer): Promise<void> {
  endsTokens(tx)
  await tx`select end_oauth_grants(array(select id from oauth_grants where key = ${key}))`
}

/** Ends the account's grants for a client. Run it `asUser`. @returns the number of grants that ended */
export async function disconnectApplication(tx: Transaction, clientId: string): Promise<number> {
  endsTokens(tx)
  const [row] = await tx<{ count: number }[]>`select disconnect_application(${clientId}) as count`
  return row!.count
}
