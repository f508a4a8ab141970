/**
 * Leases of requests. With them several processes share a token's limit without a write per request. Run it `asSystem`.
 */
import type { Transaction } from '../database.ts'

export interface UsedLease {
  id: string
  /** Times of the requests that used the lease, in milliseconds, ascending. */
  used: number[]
}

export interface LeaseRequest {
  tokenId: string
  /** The process that requests the lease. */
  holder: string
  /** Requests that the holder itself has let through in the last hour. */
  own: number
  /** Id of the new lease. */
  id: string
  now: number
  windowMs: number
  /** How long the lease may be used. */
  leaseMs: number
  limit: number
  want: number
  /** The holder's previous lease, which ends now. */
  before: UsedLease | null
}

export interface Lease {
  /** Number of requests that the lease allows; 0 when the limit is reached. */
  permits: number
  /**
   * Requests that other processes let through in the last hour: times, ascending, with their number. Requests that they
   * may still let through are listed at the end of their lease.
   */
  others: [atMs: number, count: number][]
}

export async function takeLease(tx: Transaction, request: LeaseRequest): Promise<Lease> {
  const { tokenId, holder, now, limit, before } = request
  const since = now - request.windowMs
  await tx`insert into rate_counters (token_id) values (${tokenId}) on conflict do nothing`
  await tx`select from rate_counters where token_id = ${tokenId} for update`
  if (before) await settleLease(tx, before)
  const rows = await tx<{ at: number; count: number }[]>`
    select t.at, t.count::integer
    from (
      select at, count(*) as count
      from rate_leases l
      cross join unnest(l.used) as at
      where l.token_id = ${tokenId} and l.until > ${since} and l.holder <> ${holder} and at > ${since}
      group by at
      union all
      select l.until, l.permits
      from rate_leases l
      where l.token_id = ${tokenId} and l.until > ${since} and l.holder <> ${holder} and not l.settled
    ) t
    order by t.at`
  const others = rows.map(({ at, count }): [number, number] => [at, count])
  const free = limit - request.own - others.reduce((sum, [, count]) => sum + count, 0)
  const permits = Math.max(0, Math.min(request.want, free))
  if (permits > 0) {
    await tx`
      insert into rate_leases (id, token_id, holder, permits, until)
      values (${request.id}, ${tokenId}, ${holder}, ${permits}, ${now + request.leaseMs})`
  }
  return { permits, others }
}

/** Stores the requests that used a lease, and frees the others. */
export async function settleLease(tx: Transaction, { id, used }: UsedLease): Promise<void> {
  if (used.length === 0) await tx`delete from rate_leases where id = ${id}`
  else {
    await tx`
      update rate_leases set used = ${used}::bigint[], settled = true, until = ${used.at(-1)!}
      where id = ${id}`
  }
}
