/** What opening guest links costs: tries, passwords, and the limits that guests share. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { defaultBounds } from '../../collab/gateway/gateway-bounds.ts'
import { RatesByOwner } from '../../collab/gateway/rates.ts'
import { openPasswords, type Passwords } from '../../platform/secrets/passwords.ts'
import { eraseAccount } from '../../workers/upkeep/erase-account.ts'
import { openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { logLines } from '../support/log-lines.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, succeeded } from './board.ts'
import { guestOf, makeLink, open } from './links.ts'
import { quickCost, statuses } from './sign-in.ts'

const real = openPasswords(quickCost)
let checks = 0
const passwords: Passwords = {
  hash: (password) => real.hash(password),
  check(password, phc) {
    checks += 1
    return real.check(password, phc)
  },
}
const logged = logLines('debug')
const quota = 300_000
const { service, user: owner } = await serviceOfFile({
  workers: false,
  passwords,
  log: logged.log,
  config: {
    trustProxy: 1,
    maxSocketsPerAccountOnBoard: 2,
    documentBytes: { free: quota, pro: quota },
  },
})

let addresses = 0
/** Of nobody else here. */
const newAddress = () => ({ 'x-forwarded-for': `198.51.100.${(addresses += 1)}` })
const tryFrom = (
  from: Record<string, string>,
  token: string,
  password?: string,
  client = service.anonymous,
) => client.post('/links/open', { token, name: 'Dora', password }, from)
const someToken = () => randomBytes(32).toString('base64url')

test('[GL5] links that do not work are answered the same after the same look-ups, and no password is hashed', async () => {
  const [board, trashed] = [await makeBoard(owner), await makeBoard(owner)]
  const password = 'a password'
  const [deleted, expired, hidden] = [
    await makeLink(owner, board.id, { password }),
    await makeLink(owner, board.id, { password }),
    await makeLink(owner, trashed.id, { password }),
  ]
  await owner.api.delete(`/boards/${board.id}/links/${deleted.id}`)
  await service.admin`update board_links set expires_at = now() where id = ${expired.id}`
  await owner.api.delete(`/boards/${trashed.id}`)
  checks = 0
  const { asSystem } = service.database
  let lookUps = 0
  service.database.asSystem = (...given: Parameters<typeof asSystem>) => {
    if (new Error().stack?.includes('open-link.ts')) lookUps += 1
    return asSystem.apply(service.database, given) as never
  }
  const from = newAddress()
  const here = new ApiClient(service.homeUrl, null)
  const seen: unknown[][] = []
  for (const token of [someToken(), deleted.token, expired.token, hidden.token, 'malformed', '']) {
    lookUps = 0
    const { status, text } = await tryFrom(from, token, password, here)
    seen.push([status, text, lookUps])
  }
  service.database.asSystem = asSystem
  expect([seen[0]![0], seen[0]![2]]).toEqual([404, 2])
  expect(seen).toEqual(seen.map(() => seen[0]))
  expect(checks).toBe(0)
})

test('[GL6] tries are bounded by address and by link', async () => {
  const board = await makeBoard(owner)
  const link = await makeLink(owner, board.id)
  const from = newAddress()
  const tries = await Promise.all(
    Array.from({ length: 105 }, (_, n) => tryFrom(from, n < 3 ? link.token : someToken())),
  )
  const byStatus = statuses(tries)
  expect(byStatus.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3)
  expect(byStatus.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(100)
  const refused = await tryFrom(from, link.token)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
  expect((await tryFrom(newAddress(), link.token)).status).toBe(201)
  const bucket = createHash('sha256').update(`link ${link.id}`).digest()
  await service.admin`update sign_in_allowances set used_until = now() + interval '1 hour' where bucket = ${bucket}`
  expect((await tryFrom(newAddress(), link.token)).status).toBe(429)
  expect((await tryFrom(newAddress(), (await makeLink(owner, board.id)).token)).status).toBe(201)
})

test('[GL6] wrong passwords are bounded by address and by link, before they are hashed', async () => {
  const board = await makeBoard(owner)
  const link = await makeLink(owner, board.id, { password: 'the right one' })
  const from = newAddress()
  checks = 0
  expect((await tryFrom(from, link.token)).body).toMatchObject({ code: 'forbidden' })
  expect(checks).toBe(0)
  const wrong = await Promise.all(Array.from({ length: 14 }, () => tryFrom(from, link.token, 'a wrong one')))
  expect(statuses(wrong)).toEqual([...Array<number>(10).fill(403), ...Array<number>(4).fill(429)])
  expect(checks).toBe(10)
  expect((await tryFrom(from, link.token, 'the right one')).status).toBe(429)
  // Right ones do not count, whoever sends them.
  for (let n = 0; n < 12; n++)
    expect((await tryFrom(newAddress(), link.token, 'the right one')).status).toBe(201)
  const more = await Promise.all(
    Array.from({ length: 14 }, () => tryFrom(newAddress(), link.token, 'a wrong one')),
  )
  expect(statuses(more).filter((status) => status === 403).length).toBeLessThanOrEqual(11)
  expect(statuses(more)).toContain(429)
})

test('[GL7] all guests of a link share a tenth of the quota, and the sockets of one account', async () => {
  const board = await makeBoard(owner)
  const [link, other] = [await makeLink(owner, board.id), await makeLink(owner, board.id)]
  const guests = await Promise.all([link, link, link, other].map(({ token }) => guestOf(service, token)))
  const add = async (n: number) => {
    const card = { kind: 'note', x: 0, y: 0, body: 'word '.repeat(3600) }
    const { status, body } = await guests[n]!.api.post(`/boards/${board.id}/cards`, card)
    return status === 201 ? status : [status, body['code']]
  }
  expect(await add(0)).toBe(201)
  expect(await add(1)).toEqual([402, 'limit_reached'])
  expect(await add(3)).toBe(201)
  const enter = (n: number, expectRefusal = false) =>
    openEditor(service.homeUrl, {
      boardId: board.id,
      token: guests[n]!.token,
      reconnect: false,
      expectRefusal,
    })
  const [first, second] = [await enter(0), await enter(1)]
  expect((await enter(2, true)).cards.size).toBe(0)
  expect([first, second, await enter(3)].map(({ cards }) => cards.size)).toEqual([2, 2, 2])
})

test('[GL10] a guest uses up what is its own, a link what its guests have, and others go on', async () => {
  const poor = await service.user({ tier: 'free' })
  const board = await makeBoard(poor)
  const [link, other] = [await makeLink(poor, board.id), await makeLink(poor, board.id)]
  const [busy, calm, elsewhere] = await Promise.all(
    [link, link, other].map(({ token }) => guestOf(service, token)),
  )
  /** Another process has let through all but one of these. */
  const useUp = async (id: string, most: number) => service.admin`
    insert into rate_leases (id, token_id, holder, permits, until)
    values (${randomUUID()}, ${id}, ${randomUUID()}, ${most - 1}, ${Date.now() + 300_000})`
  const first = async ({ api }: { api: ApiClient }) => {
    const { status, headers } = await api.get(`/boards/${board.id}`)
    return [status, headers.get('x-ratelimit-limit')]
  }
  for (const guest of [busy!, calm!, elsewhere!]) expect(await first(guest)).toEqual([200, '1000'])
  const [token] = await service.admin<{ id: string }[]>`select id from tokens where user_id = ${busy!.userId}`
  await useUp(token!.id, 1000)
  await until(async () => (await first(busy!))[0] === 429, 'the guest has used up its own')
  expect((await first(calm!))[0]).toBe(200)
  await useUp(link.id, 10_000)
  await until(async () => (await first(calm!)).join() === '429,10000', 'the link is used up')
  expect((await first(elsewhere!))[0]).toBe(200)
  await useUp(poor.userId, 20_000)
  await until(async () => (await first(elsewhere!)).join() === '429,20000', 'all of the owner is used up')
  expect((await poor.api.get('/me')).status).toBe(200)
})

test('[GL10] the rates of guests on sockets are those of an account, a link and an owner', () => {
  const rates = new RatesByOwner(defaultBounds)
  const [one, two] = ['one', 'two'].map((guest) => rates.of(guest, 'owner', 'link'))
  const session = rates.of('user', 'owner')
  one!.queries.spend(4 * defaultBounds.queryRate.burst)
  expect([one!, two!, session].map(({ queries }) => queries.waitMs > 0)).toEqual([true, false, false])
  one!.queries.spend(2 * defaultBounds.queryRate.burst)
  expect([two!, session].map(({ queries }) => queries.waitMs > 0)).toEqual([true, false])
  session.queries.spend(5 * defaultBounds.queryRate.burst)
  expect(rates.of('another', 'owner').queries.waitMs).toBeGreaterThan(0)
})

test('[GL8] with the account of the owner the names of guests go, and its entries in the audit lose them', async () => {
  const leaving = await service.user()
  const board = await makeBoard(leaving)
  const guest = await guestOf(service, (await makeLink(leaving, board.id)).token, 'Unmistakable')
  const parts = { database: service.database, files: service.files, clock: Date, log: service.app.log }
  await eraseAccount(parts, leaving.userId)
  expect((await guest.api.get('/me')).status).toBe(401)
  const kept = await service.admin`
    select (select count(*)::integer from users where display_name = 'Unmistakable') as users,
      (select json_agg(a) from audit_operations a where user_id = ${guest.userId})::text as audit`
  expect(kept[0]).toEqual({ users: 0, audit: expect.not.stringContaining('Unmistakable') })
})

test('[GL9] no secret of a link or a guest is in the log, in the audit or in the database', async () => {
  const board = await makeBoard(owner)
  const password = 'mellon, mellon'
  const link = await makeLink(owner, board.id, { password })
  const { access_token } = succeeded(await open(service, link.token, { password }))
  await open(service, link.token, { password: `not ${password}` })
  for (const secret of [link.token, password, access_token]) {
    expect(logged.about(secret)).toEqual([])
    const [row] = await service.admin`
      select concat(
        (select json_agg(l) from board_links l), (select json_agg(t) from tokens t), (select json_agg(a) from audit_operations a),
        (select json_agg(u) from users u), (select json_agg(s) from sign_in_allowances s)
      ) as text`
    expect(row!['text']).not.toContain(secret)
  }
})
