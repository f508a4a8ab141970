/** Leases of requests, so that several processes share a token's hour without a write per request. Run it `asSystem`. */
import type { Transaction } from '../database.ts'

export interface UsedLease {
  id: string
  /** When it let requests through, in milliseconds, ascending. */
  used: number[]
}

export interface LeaseRequest {
  tokenId: string
  /** Who asks, and knows what it has let through itself: so many in the last hour. */
  holder: string
  own: number
  /** Of the lease that is asked for. */
  id: string
  now: number
  windowMs: number
  /** How long it may be used. */
  leaseMs: number
  limit: number
  want: number
  /** The lease before, which ends with this. */
  before: UsedLease | null
}

export interface Lease {
  /** What it lets through; 0 when the hour is full. */
  permits: number
  /**
   * What others let through in the last hour, ascending: times, and how many requests each. What they may still let
   * through is there at the time when their leases end.
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

/** Tells what a lease let through; the rest of it is free again. */
export async function settleLease(tx: Transaction, { id, used }: UsedLease): Promise<void> {
  if (used.length === 0) await tx`delete from rate_leases where id = ${id}`
  else {
    await tx`
      update rate_leases set used = ${used}::bigint[], settled = true, until = ${used.at(-1)!}
      where id = ${id}`
  }
}
