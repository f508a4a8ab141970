/**
 * Limits sign-in attempts for each address, account and browser. A bucket allows a burst, and then one attempt per
 * interval. The algorithm is GCRA, which stores one time per bucket. An attempt is counted before the password is
 * checked, so that concurrent attempts count too. It is given back when the password was right.
 */
import { createHash } from 'node:crypto'
import type { Transaction } from '../database.ts'

export interface Allowance {
  /** Name of the bucket. It is stored as a hash. */
  name: string
  burst: number
  seconds: number
}

/**
 * Counts an attempt in all buckets if all of them allow it.
 *
 * @returns 0 when the attempt is allowed; otherwise the seconds until it will be, and nothing is counted
 */
export async function takeAttempt(tx: Transaction, allowances: readonly Allowance[]): Promise<number> {
  const buckets = allowances.map(({ name }) => bucketOf(name))
  const rows = await tx<{ bucket: string; ahead: number }[]>`
    insert into sign_in_allowances as a (bucket, used_until)
    select decode(b, 'hex'), now() from unnest(${buckets}::text[]) as b order by 1
    on conflict (bucket) do update set bucket = excluded.bucket -- holds the row
    returning encode(bucket, 'hex') as bucket,
      extract(epoch from a.used_until - clock_timestamp())::double precision as ahead`
  const ahead = new Map(rows.map((row) => [row.bucket, Math.max(0, row.ahead)]))
  const wait = Math.max(
    ...allowances.map(({ burst, seconds }, at) => ahead.get(buckets[at]!)! - (burst - 1) * seconds),
  )
  if (wait > 0) return Math.max(1, Math.ceil(wait))
  await tx`
    update sign_in_allowances a
    set used_until = greatest(a.used_until, clock_timestamp()) + s.seconds * interval '1 second'
    from ${stepsOf(tx, allowances)}
    where a.bucket = s.bucket`
  return 0
}

export async function giveBackAttempt(tx: Transaction, allowances: readonly Allowance[]): Promise<void> {
  const buckets = allowances.map(({ name }) => bucketOf(name))
  await tx`
    select from sign_in_allowances
    where bucket = any (array(select decode(b, 'hex') from unnest(${buckets}::text[]) as b))
    order by bucket
    for update`
  await tx`
    update sign_in_allowances a
    set used_until = a.used_until - s.seconds * interval '1 second'
    from ${stepsOf(tx, allowances)}
    where a.bucket = s.bucket`
}

/** Returns the allowances as a table `s (bucket, seconds)`. */
const stepsOf = (tx: Transaction, allowances: readonly Allowance[]) => tx`(
  select decode(v.bucket, 'hex') as bucket, v.seconds
  from unnest(${allowances.map(({ name }) => bucketOf(name))}::text[], ${allowances.map(({ seconds }) => seconds)}::integer[])
    as v(bucket, seconds)
) s`

const bucketOf = (name: string) => createHash('sha256').update(name).digest('hex')
