/**
 * Writes the temporary objects of the OAuth provider, such as interactions, codes and refresh tokens. Run it
 * `asSystem`.
 */
import type { Transaction } from '../database.ts'

export interface Artifact {
  kind: string
  key: Buffer
  payload: Buffer
  /** Id of the grant's row. */
  grantId: string | null
  /** Null: the object does not expire. */
  lastsSeconds: number | null
}

export async function saveArtifact(tx: Transaction, artifact: Artifact): Promise<void> {
  const { kind, key, payload, grantId, lastsSeconds } = artifact
  await tx`
    insert into oauth_artifacts (kind, key, payload, grant_id, expires_at)
    values (${kind}, ${key}, ${payload}, ${grantId}, now() + ${lastsSeconds}::integer * interval '1 second')
    on conflict (kind, key) do update set payload = excluded.payload, expires_at = excluded.expires_at`
}

export async function findArtifact(
  tx: Transaction,
  kind: string,
  key: Buffer,
): Promise<{ payload: Buffer; consumedAt: Date | null } | null> {
  const [row] = await tx<{ payload: Buffer; consumedAt: Date | null }[]>`
    select payload, consumed_at as "consumedAt" from oauth_artifacts where kind = ${kind} and key = ${key}`
  return row ?? null
}

/** Marks an object as consumed. @returns true for the first caller only, also when several call at the same moment */
export async function consumeArtifact(tx: Transaction, kind: string, key: Buffer): Promise<boolean> {
  const { count } = await tx`
    update oauth_artifacts set consumed_at = now() where kind = ${kind} and key = ${key} and consumed_at is null`
  return count > 0
}

export async function deleteArtifact(tx: Transaction, kind: string, key: Buffer): Promise<void> {
  await tx`delete from oauth_artifacts where kind = ${kind} and key = ${key}`
}
