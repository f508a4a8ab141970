import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RateLimiter } from '../../api/http/rate-limit.ts'
import { ApiClient } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import type { Problem } from './board.ts'

const hourMs = 3_600_000
const startMs = Date.UTC(2030, 0, 1)
const clock = { ms: startMs, now: () => clock.ms }
let service: TestService
let user: TestUser

beforeAll(async () => {
  service = await startService({ clock, workers: false, config: { rateLimitPerHour: 5 } })
})
afterAll(() => service.stop())
beforeEach(async () => {
  clock.ms = Math.max(clock.ms, startMs) + 3 * hourMs
  user = await service.user()
})

const figures = (headers: Headers) => ({
  limit: Number(headers.get('x-ratelimit-limit')),
  remaining: Number(headers.get('x-ratelimit-remaining')),
  reset: Number(headers.get('x-ratelimit-reset')),
})

test('[E20] over the limit: 429 with retry-after, until the oldest request has left the hour, to the millisecond', async () => {
  const first = clock.ms
  for (let n = 0; n < 5; n++) {
    const answer = await user.api.get('/me')
    expect(answer.status).toBe(200)
    expect(figures(answer.headers)).toEqual({
      limit: 5,
      remaining: 4 - n,
      reset: Math.ceil((first + hourMs) / 1000),
    })
    expect(answer.body.rate_limit).toEqual(figures(answer.headers))
    clock.ms += 60_000
  }
  const refused = await user.api.get('/me')
  expect(refused.status).toBe(429)
  expect(refused.body.code).toBe('rate_limited')
  expect(refused.headers.get('retry-after')).toBe(String((first + hourMs - clock.ms) / 1000))
  expect(figures(refused.headers).remaining).toBe(0)

  clock.ms = first + hourMs - 1
  const early = await user.api.get('/me')
  expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1'])
  clock.ms = first + hourMs
  const again = await user.api.get('/me')
  expect(again.status).toBe(200)
  expect(figures(again.headers)).toEqual({ limit: 5, remaining: 0, reset: (first + 60_000 + hourMs) / 1000 })
  expect((await user.api.get('/me')).status).toBe(429)
  clock.ms += 60_000
  expect((await user.api.get('/me')).status).toBe(200)
})

test('[E21] errors count like successes, whatever the token may do', async () => {
  const reader = await service.token(user, { scopes: ['read'] })
  const statuses = [
    (await reader.api.get('/boards/x')).status,
    (await reader.api.post('/boards', { name: 'a' })).status,
    (await reader.api.get('/nothing')).status,
    (await reader.api.send('PUT', '/me')).status,
    (await reader.api.get('/openapi.json')).status,
    (await reader.api.get('/boards/x')).status,
  ]
  expect(statuses).toEqual([400, 403, 404, 405, 200, 429])
})

test('[E22] each token has its own hour and may have its own limit; without one the address counts', async () => {
  const other = await service.token(user, {})
  await service.admin`update tokens set rate_limit = 7 where id = ${other.tokenId}`
  for (let n = 0; n < 5; n++) expect((await user.api.get('/me')).status).toBe(200)
  expect((await user.api.get('/me')).status).toBe(429)
  expect(figures((await other.api.get('/me')).headers)).toMatchObject({ limit: 7, remaining: 6 })

  const anonymous = () => fetch(`${service.url}/api/v1/me`)
  for (let n = 0; n < 5; n++) {
    const answer = await anonymous()
    expect([answer.status, figures(answer.headers).remaining]).toEqual([401, 4 - n])
  }
  const refused = await anonymous()
  expect([refused.status, ((await refused.json()) as Problem).code]).toEqual([429, 'rate_limited'])
  expect((await fetch(`${service.url}/api/v1/boards`, { method: 'OPTIONS' })).status).toBe(204)
  expect((await other.api.get('/me')).status).toBe(200)
})

test('[E23] in no hour, wherever it begins, are more than the limit let through, and none is refused while there is room', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 400 }),
      (limit, waits) => {
        let now = startMs
        const limiter = new RateLimiter({ now: () => now })
        const allowed: number[] = []
        for (const wait of waits) {
          now += wait
          const inHour = allowed.filter((time) => time > now - hourMs)
          const decision = limiter.take('key', limit)
          expect(decision.allowed).toBe(inHour.length < limit)
          if (decision.allowed) allowed.push(now)
          const oldest = allowed.find((time) => time > now - hourMs)!
          expect(decision.remaining).toBe(limit - allowed.filter((time) => time > now - hourMs).length)
          expect(decision.reset).toBe(Math.ceil((oldest + hourMs) / 1000))
          expect(decision.retryAfter).toBe(Math.max(1, Math.ceil((oldest + hourMs - now) / 1000)))
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('[RL1] the figures are in the fields of the IETF too, on every answer', async () => {
  const fields = ({ headers }: { headers: Headers }) => [
    headers.get('ratelimit-policy'),
    headers.get('ratelimit'),
  ]
  expect(fields(await user.api.get('/me'))).toEqual(['"hour";q=5;w=3600', '"hour";r=4;t=3600'])
  clock.ms += 600_000
  expect(fields(await user.api.get('/boards/x'))).toEqual(['"hour";q=5;w=3600', '"hour";r=3;t=3000'])
  for (let n = 0; n < 3; n++) await user.api.get('/nothing')
  const refused = await user.api.get('/me')
  expect([refused.status, ...fields(refused)]).toEqual([429, '"hour";q=5;w=3600', '"hour";r=0;t=3000'])
  const anonymous = await fetch(`${service.url}/api/v1/me`)
  expect([anonymous.status, ...fields(anonymous)]).toEqual([401, '"hour";q=5;w=3600', '"hour";r=4;t=3600'])
  const exposed = anonymous.headers.get('access-control-expose-headers')?.split(', ') ?? []
  expect(exposed).toEqual(expect.arrayContaining(['ratelimit', 'ratelimit-policy']))
})

test('[RL2] retry-after is true where the limit was lowered', () => {
  let now = startMs
  const limiter = new RateLimiter({ now: () => now })
  for (let n = 0; n < 10; n++) {
    limiter.take('key', 10)
    now += 60_000
  }
  const refused = limiter.take('key', 3)
  expect(refused).toMatchObject({ allowed: false, remaining: 0 })
  const refusedAt = now
  now = refusedAt + (refused.retryAfter - 1) * 1000
  expect(limiter.take('key', 3).allowed).toBe(false)
  now = refusedAt + refused.retryAfter * 1000
  expect(limiter.take('key', 3).allowed).toBe(true)
})

test('[RL7] without a token each process counts by itself, a restart begins anew, and nothing is written', async () => {
  const testDatabase = { url: service.databaseUrl, admin: service.admin, drop: async () => {} }
  const start = () => startService({ testDatabase, clock, workers: false, config: { rateLimitPerHour: 5 } })
  const written = async () =>
    (
      await service.admin`select (select count(*) from rate_leases) as leases, (select count(*) from rate_counters) as counters`
    )[0]
  const before = await written()
  const wrong = { headers: { authorization: 'Bearer cork_wrong' } }
  const passed = async ({ url }: TestService) => {
    let count = 0
    for (let n = 0; n < 8; n++) if ((await fetch(`${url}/api/v1/me`, wrong)).status === 401) count += 1
    return count
  }
  const other = await start()
  expect([await passed(service), await passed(other), await passed(service), await passed(other)]).toEqual([
    5, 5, 0, 0,
  ])
  await other.stop()
  const again = await start()
  expect(await passed(again)).toBe(5)
  await again.stop()
  expect(await written()).toEqual(before)
  // A valid token is not held up by it.
  expect((await user.api.get('/me')).status).toBe(200)
})

test('[RL8] an IPv6 address counts with its network, an IPv4 address alone, and addresses are bounded', () => {
  const limiter = new RateLimiter({ now: () => startMs }, 3)
  const take = (address: string) => limiter.take(address, 2).allowed
  expect([take('2001:db8:1:2::1'), take('2001:db8:1:2:ffff::9'), take('2001:db8:1:2::3')]).toEqual([
    true,
    true,
    false,
  ])
  expect(take('2001:db8:1:3::1')).toBe(true)
  expect([take('192.0.2.1'), take('::ffff:192.0.2.1'), take('192.0.2.1')]).toEqual([true, true, false])
  expect(take('2001:db8:1:2::4')).toBe(false) // seen again: the others go before it
  expect(take('192.0.2.2')).toBe(true)
  expect([take('2001:db8:1:3::1'), take('2001:db8:1:3::2')]).toEqual([true, true]) // forgotten
  expect(take('2001:db8:1:2::5')).toBe(false)
})

test('[RL3, RL4] two processes share the hour of a token, and a restart does not reset it', async () => {
  const testDatabase = { url: service.databaseUrl, admin: service.admin, drop: async () => {} }
  const start = () => startService({ testDatabase, clock, workers: false, config: { rateLimitPerHour: 5 } })
  const other = await start()
  const ask = async ({ url }: TestService) => (await new ApiClient(url, user.token).get('/me')).status
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push(await ask(n % 2 === 0 ? service : other))
  expect(statuses).toEqual([200, 200, 200, 200])
  await other.stop()
  const again = await start()
  expect(await ask(again)).toBe(200)
  expect([await ask(again), await ask(service)]).toEqual([429, 429])
  await again.stop()
  clock.ms += hourMs
  expect(await ask(service)).toBe(200)
})
