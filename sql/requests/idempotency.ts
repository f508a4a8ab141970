/** Writes idempotency keys, but for the row that goes with the work itself; see operation.ts. Run it `asSystem`. */
import type { Transaction } from '../database.ts'
import type { OperationKey } from '../operation.ts'

export interface KnownKey {
  fingerprint: string
  /** What was made, encoded; see made.ts. */
  result: unknown[]
  /** Encrypted. Null when the work is done, or begun, and its answer was lost. */
  response: Buffer | null
}

/**
 * What is known of a key, if anything; forgotten is what is older than `cutoff`. Of work whose answer was lost the
 * attempt takes over.
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

/** The first answer stays. */
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
