import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TokenLimiter } from '../../api/http/token-limiter.ts'
import { databaseOfFile } from '../support/test-file.ts'

const hourMs = 3_600_000
const log = { info() {}, warn() {}, error() {}, debug() {} }
const clock = { ms: Date.UTC(2030, 0, 1), now: () => clock.ms }
const { testDatabase, database } = await databaseOfFile()
const [user] = await testDatabase.admin`insert into users (email) values ('a@example.test') returning id`
const userId = user!['id']

const limiter = () => new TokenLimiter({ database, clock, log })

async function newToken(): Promise<string> {
  clock.ms += 3 * hourMs
  const [token] = await testDatabase.admin`
    insert into tokens (user_id, name, prefix, hash, scopes)
    values (${userId}, 't', 't', ${Buffer.from(randomUUID())}, '{read}') returning id`
  return token!['id']
}

async function take(from: TokenLimiter, token: string, count: number, limit: number): Promise<number> {
  const taken = await Promise.all(Array.from({ length: count }, () => from.take(token, limit)))
  return taken.filter(({ allowed }) => allowed).length
}

test('[RL5] one at 0:00, 999 at 59:59: of two at 60:02 one passes, whatever other tokens do', async () => {
  const [token, one] = [await newToken(), limiter()]
  const started = clock.ms
  expect(await take(one, token, 1, 1000)).toBe(1)
  const others = await testDatabase.admin<{ id: string }[]>`
    with accounts as (
      insert into users (email) select n || '@example.test' from generate_series(1, 200) as n returning id
    )
    insert into tokens (user_id, name, prefix, hash, scopes)
    select a.id, 't', 't', sha256((a.id::text || n)::bytea), '{read}'
    from accounts a cross join generate_series(1, 50) as n
    returning id`
  for (let at = 0; at < others.length; at += 500)
    await Promise.all(others.slice(at, at + 500).map(({ id }) => one.take(id, 1000)))
  clock.ms = started + hourMs - 1000
  expect(await take(one, token, 999, 1000)).toBe(999)
  expect(await one.take(token, 1000)).toMatchObject({ allowed: false, remaining: 0, retryAfter: 1 })
  clock.ms = started + hourMs + 2000
  expect(await one.take(token, 1000)).toMatchObject({ allowed: true, remaining: 0 })
  const refused = await one.take(token, 1000)
  expect(refused).toMatchObject({ allowed: false, retryAfter: 3597 })
  clock.ms += 3597 * 1000
  expect((await one.take(token, 1000)).allowed).toBe(true)
}, 60_000)

test('[RL3] two processes share an hour, and refuse at most what the other holds', async () => {
  for (const limit of [1, 7, 100, 1000]) {
    const [token, a, b] = [await newToken(), limiter(), limiter()]
    let passed = 0
    for (let turn = 0; turn < 2 * limit; turn++) passed += await take(turn % 2 ? a : b, token, 1, limit)
    expect(passed).toBeLessThanOrEqual(limit)
    expect(passed).toBeGreaterThanOrEqual(limit - Math.max(1, Math.floor(limit / 20)))
    await a.giveBack()
    clock.ms += 1000
    passed += await take(b, token, limit, limit)
    expect(passed).toBe(limit)
  }
})

test('[RL3] in no hour do two processes let more than the limit through', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 300_000 }), fc.integer({ min: 1, max: 9 })), {
        maxLength: 40,
      }),
      async (limit, steps) => {
        const [token, a, b] = [await newToken(), limiter(), limiter()]
        const passed: number[] = []
        for (const [first, wait, count] of steps) {
          clock.ms += wait
          const allowed = await take(first ? a : b, token, count, limit)
          for (let n = 0; n < allowed; n++) passed.push(clock.ms)
          expect(passed.filter((at) => at > clock.ms - hourMs).length).toBeLessThanOrEqual(limit)
        }
      },
    ),
    { numRuns: 25 },
  )
}, 60_000)

test('[RL4] a restart does not reset the hour; after a kill what was held counts until it has left', async () => {
  const [token, before] = [await newToken(), limiter()]
  const started = clock.ms
  expect(await take(before, token, 30, 100)).toBe(30)
  clock.ms += 60_000
  await before.giveBack()
  const after = limiter()
  expect(await after.take(token, 100)).toMatchObject({
    remaining: 69,
    reset: Math.ceil((started + hourMs) / 1000),
  })
  expect(await take(after, token, 100, 100)).toBe(69)
  expect((await after.take(token, 100)).retryAfter).toBe(3540)
  const killed = await newToken()
  const dying = limiter()
  expect(await take(dying, killed, 90, 100)).toBe(90)
  const next = limiter()
  const left = await take(next, killed, 100, 100)
  expect(left).toBeLessThanOrEqual(10)
  expect(left).toBeGreaterThanOrEqual(5)
})

test('[RL6] a token in steady use writes once in 50 requests', async () => {
  const [token, one] = [await newToken(), limiter()]
  for (let n = 0; n < 900; n++) expect((await one.take(token, 1000)).allowed).toBe(true)
  const [row] = await testDatabase.admin`
    select count(*)::integer as leases from rate_leases where token_id = ${token}`
  expect(row!['leases']).toBeLessThan(900 / 50 + 8)
})
