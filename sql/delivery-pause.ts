/**
 * The pause of webhook deliveries after a restore. Nodes look for it when they start: a restore needs a database that
 * no node uses. Run these functions `asSystem`.
 */
import type { Transaction } from './database.ts'

/** Returns since when deliveries are paused, or null. */
export async function findPause(tx: Transaction): Promise<Date | null> {
  const [row] = await tx<{ since: Date }[]>`select since from delivery_pause`
  return row?.since ?? null
}

export async function pauseDeliveries(tx: Transaction): Promise<void> {
  await tx`insert into delivery_pause default values on conflict do nothing`
}

/** @returns whether they were paused */
export async function resumeDeliveries(tx: Transaction): Promise<boolean> {
  return (await tx`delete from delivery_pause`).count > 0
}
