/** The state of the outbox. */
import type { Transaction } from '../database.ts'

/** Returns the age of the oldest event that waits in the outbox, in milliseconds; 0 when none waits. */
export async function outboxAgeMs(tx: Transaction): Promise<number> {
  // Ids grow in the order of the changes, so this reads one entry of the primary key.
  const [row] = await tx<{ age: number }[]>`
    select greatest(0, round(extract(epoch from statement_timestamp() - occurred_at) * 1000))::double precision as age
    from events
    order by id
    limit 1`
  return row?.age ?? 0
}
