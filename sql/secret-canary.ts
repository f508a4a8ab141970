/** Reads and writes the canary, an encrypted text that shows whether SECRET_KEY is right. Run it `asSystem`. */
import type { Transaction } from './database.ts'

export async function findCanary(tx: Transaction): Promise<Uint8Array | null> {
  const [row] = await tx<{ sealed: Uint8Array }[]>`select sealed from secret_canary`
  return row?.sealed ?? null
}

/** @returns the stored canary. If two processes start at the same moment, both get the first one */
export async function saveCanary(tx: Transaction, sealed: Buffer): Promise<Uint8Array> {
  await tx`insert into secret_canary (sealed) values (${sealed}) on conflict do nothing`
  return (await findCanary(tx))!
}

/** Returns an encrypted webhook secret. It checks the key of a database that has no canary yet. */
export async function findSealedSecret(
  tx: Transaction,
): Promise<{ webhookId: string; sealed: Uint8Array } | null> {
  const [row] = await tx<{ webhookId: string; sealed: Uint8Array }[]>`
    select id as "webhookId", secret as sealed from webhooks order by id limit 1`
  return row ?? null
}

/** Replaces the canary, when everything is encrypted with another key. */
export async function replaceCanary(tx: Transaction, sealed: Buffer): Promise<void> {
  await tx`update secret_canary set sealed = ${sealed}`
}
