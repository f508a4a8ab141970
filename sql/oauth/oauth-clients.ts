/** Writes registered clients. Run it `asSystem`. */
import type { Transaction } from '../database.ts'

export async function saveClient(tx: Transaction, client: { id: string; metadata: Buffer }): Promise<void> {
  await tx`
    insert into oauth_clients (client_id, metadata) values (${client.id}, ${client.metadata})
    on conflict (client_id) do update set metadata = excluded.metadata`
}

/** @returns the saved metadata */
export async function findClient(tx: Transaction, id: string): Promise<Buffer | null> {
  const [row] = await tx<{ metadata: Buffer }[]>`select metadata from oauth_clients where client_id = ${id}`
  return row?.metadata ?? null
}

export async function deleteClient(tx: Transaction, id: string): Promise<void> {
  await tx`delete from oauth_clients where client_id = ${id}`
}

/** Stores that the client was used, at most once a day, so that not every token causes a write. */
export async function clientUsed(tx: Transaction, id: string): Promise<void> {
  await tx`
    update oauth_clients set used_at = now()
    where client_id = ${id} and (used_at is null or used_at < now() - interval '1 day')`
}
