/** The encrypted text by which a start tells whether it has the database's SECRET_KEY. Run it `asSystem`. */
import type { Transaction } from './database.ts'

export async function findCanary(tx: Transaction): Promise<Uint8Array | null> {
  const [row] = await tx<{ sealed: Uint8Array }[]>`select sealed from secret_canary`
  return row?.sealed ?? null
}

/** @returns the canary that is stored now: of two processes that start at the same moment, the first one's */
export async function saveCanary(tx: Transaction, sealed: Buffer): Promise<Uint8Array> {
  await tx`insert into secret_canary (sealed) values (${sealed}) on conflict do nothing`
  return (await findCanary(tx))!
}

/** A webhook's secret that was encrypted before there was a canary. */
export async function findSealedSecret(
  tx: Transaction,
): Promise<{ webhookId: string; sealed: Uint8Array } | null> {
  const [row] = await tx<{ webhookId: string; sealed: Uint8Array }[]>`
    select id as "webhookId", secret as sealed from webhooks order by id limit 1`
  return row ?? null
}
