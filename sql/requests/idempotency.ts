/**
 * Writes idempotency keys, except the row that the transaction of the work writes (operation.ts). Run it `asSystem`.
 */
import type { Transaction } from '../database.ts'
import type { OperationKey } from '../operation.ts'

export interface KnownKey {
  fingerprint: string
  /** Objects that the request made, encoded; see made.ts. */
  result: unknown[]
  /** The encrypted answer. Null when the work began or finished, but its answer was lost. */
  response: Buffer | null
}

/**
 * Finds a key, and deletes it when it is older than `cutoff`. If the answer was lost, the given attempt takes over the
 * work.
 */
export async function openKey(
  tx: Transaction,
  { id, attempt }: OperationKey,
  cutoff: Date,
): Promise<KnownKey | null> {
  await tx`delete from idempotency_keys where id = decode(${id}, 'hex') and created_at < ${cutoff}`
  const [known] = await tx<KnownKey[]>`
    update idempotency_keys
    set attempt = case when response is null then ${attempt}::uuid else attempt end
    where id = decode(${id}, 'hex')
    returning encode(fingerprint, 'hex') as fingerprint, result, response`
  return known ?? null
}

/** Stores the answer under its key. Does nothing when an answer is already stored. */
export async function storeResponse(
  tx: Transaction,
  { id, fingerprint, attempt, created_at }: OperationKey,
  userId: string,
  response: Buffer,
): Promise<void> {
  await tx`
    insert into idempotency_keys as k (id, user_id, fingerprint, attempt, response, created_at)
    values (decode(${id}, 'hex'), ${userId}, decode(${fingerprint}, 'hex'), ${attempt}, ${response}, ${created_at})
    on conflict (id) do update set response = excluded.response
    where k.attempt = excluded.attempt and k.response is null`
}
