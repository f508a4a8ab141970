/** What sessions may use, and that nobody gets past a limit by minting. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Pace } from '../../platform/work/pace.ts'
import { RatesByOwner } from '../../collab/gateway/rates.ts'
import { limits } from '../../core/limits.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { setPayer } from '../../platform/work/payers.ts'
import { withSession } from '../../sql/acting-session.ts'
import { findSessionUser } from '../../sql/accounts/session-users.ts'
import { makePersonalToken } from '../../sql/accounts/personal-tokens.ts'
import { mintToken } from '../../sql/accounts/tokens.ts'
import { eraseAccount } from '../../workers/upkeep/erase-account.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { makeBoard, succeeded } from './board.ts'
import { mint, serviceAccountOf } from './minting.ts'

const { service, user: owner } = await serviceOfFile({ workers: false, config: { rateLimitPerHour: 200 } })
const parts = () => {
  const { database, files, app } = service
  return { database, files, clock: { now: () => Date.now() }, log: app.log }
}
const figuresOf = ({ headers }: { headers: Headers }) => [
  Number(headers.get('x-ratelimit-limit')),
  Number(headers.get('x-ratelimit-remaining')),
]

test('[US9] the sessions of a user share a limit, and those of an owner another one, by its tier', async () => {
  const poor = await service.user({ tier: 'free' })
  const board = await makeBoard(poor)
  const on = { board_ids: [board.id] }
  const minted = async (id: string) =>
    new ApiClient(service.homeUrl, (await mint(service, poor, { ...on, user: { id, name: id } })).token)
  const [first, second, other] = [await minted('u-1'), await minted('u-1'), await minted('other')]
  expect(figuresOf(await first.get('/me'))).toEqual([200, 199])
  expect(figuresOf(await second.get('/me'))).toEqual([200, 198])
  expect(figuresOf(await other.get('/me'))).toEqual([200, 199])
  // Another process has used up what the owner’s tier allows.
  const used = limits.sessions.requestsPerHour.free - 1
  await service.admin`
    insert into rate_leases (id, token_id, holder, permits, until)
    values (${randomUUID()}, ${poor.userId}, ${randomUUID()}, ${used}, ${Date.now() + 300_000})`
  const fresh = await minted('fresh')
  const answers = []
  for (let n = 0; n < 50; n++) answers.push(await fresh.get('/me'))
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.body.code).toBe('rate_limited')
  expect(refused.headers.get('x-ratelimit-limit')).toBe(String(limits.sessions.requestsPerHour.free))
  expect((await (await minted('another')).get('/me')).status).toBe(429)
  expect((await poor.api.get('/me')).status).toBe(200)
})

test('[US10] an owner has so many users with a live session; a known one is minted again, and an ended one makes room', async () => {
  const poor = await service.user({ tier: 'free' })
  const all = { workspace_id: poor.workspaceId }
  await mint(service, poor, { ...all, user: { id: 'first', name: 'First' } })
  await service.admin`
    with made as (
      insert into users (email) select 'live-' || n || '@sessions.invalid' from generate_series(2, ${limits.sessions.live.free}) n
      returning id
    )
    insert into session_users (id, workspace_id, external_id, minted_by, live_until)
    select id, ${poor.workspaceId}, id::text, ${poor.userId}, now() + interval '1 hour' from made`
  const asked = (id: string) =>
    poor.api.post('/sessions', { ...all, role: 'viewer', user: { id, name: 'X' } })
  const refused = await asked('one more')
  expect([refused.status, refused.body.code]).toEqual([402, 'limit_reached'])
  expect((await asked('first')).status).toBe(200)
  succeeded(await poor.api.delete('/sessions', { ...all, user_id: 'first' }))
  expect((await asked('one more')).status).toBe(200)
  expect((await asked('first')).status).toBe(402)
})

test('[US10] users of one owner take the turns of one account, and take turns among each other', async () => {
  const [payer, ann, bob, rival] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  for (const user of [ann, bob]) setPayer(user, payer)
  const queue = new FairQueue({ atOnce: 1, waiting: 100, waitingPerAccount: 40 })
  const began: string[] = []
  const end = await queue.take(randomUUID())
  const run = (account: string, name: string) => queue.run(account, () => void began.push(name))
  const pieces = [
    ...['a1', 'a2', 'a3'].map((name) => run(ann, name)),
    ...['b1', 'b2'].map((name) => run(bob, name)),
    ...['r1', 'r2'].map((name) => run(rival, name)),
  ]
  await expect(Promise.all([run(ann, 'a4'), run(ann, 'a5')])).rejects.toThrow('the queue is full')
  end()
  await Promise.all(pieces)
  expect(began).toEqual(['a1', 'r1', 'b1', 'r2', 'a2', 'b2', 'a3', 'a4'])
})

test('[US10] the sockets of all sessions of an owner have the rates of ten accounts, and the time of one', async () => {
  const payer = randomUUID()
  const users = Array.from({ length: 12 }, () => randomUUID())
  for (const user of users) setPayer(user, payer)
  const rate = { perSecond: 0.001, burst: 10 }
  const rates = new RatesByOwner({
    awarenessRate: rate,
    queryRate: rate,
    frameRate: rate,
    maxAccountUnreadBytes: 1,
    maxAccountIncomingBytes: 1,
  })
  const taken = users.map((user) => {
    const { awareness } = rates.of(user, payer)
    return Array.from({ length: 20 }, () => awareness.take()).filter(Boolean).length
  })
  // A bucket lets one more through, for what came into it meanwhile.
  expect(Math.max(...taken)).toBeLessThanOrEqual(11)
  expect(taken.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(101)
  expect([taken[0]! >= 10, taken.at(-1)]).toEqual([true, 0])

  const pace = new Pace()
  pace.spend(users[0]!, 30)
  expect([pace.restMs(users[0]!) > 0, pace.restMs(users[1]!)]).toEqual([true, 0])
  for (const user of users.slice(1, 10)) pace.spend(user, 30)
  expect(pace.restMs(users[11]!)).toBeGreaterThan(0)
  expect(pace.restMs(payer)).toBe(0)
})

test('[US11] the 101st live token of an account is refused, on every path that makes one', async () => {
  const user = await service.user()
  const backend = await serviceAccountOf(service, user)
  const fill = (id: string) => service.admin`
    insert into tokens (user_id, name, prefix, hash, scopes)
    select ${id}, 'many', 'cork_', sha256(random()::text::bytea), '{read}' from generate_series(1, 99)`
  await fill(user.userId)
  await fill(backend.accountId)
  const path = `/service-accounts/${backend.accountId}/tokens`
  const refused = await user.api.post(path, {})
  expect([refused.status, refused.body.code]).toEqual([402, 'limit_reached'])
  const personal = { id: randomUUID(), name: 'x', scopes: [], ttlDays: null }
  await expect(
    service.database.asUser(user.userId, (tx) => makePersonalToken(tx, personal)),
  ).rejects.toMatchObject({ code: 'CB402' })
  const ofCommandLine = { userId: user.userId, name: 'x', scopes: [] }
  await expect(service.database.asSystem((tx) => mintToken(tx, ofCommandLine))).rejects.toMatchObject({
    code: 'CB402',
  })
  await service.admin`update tokens set revoked_at = now() where user_id = ${backend.accountId} and name = 'many'`
  expect((await user.api.post(path, {})).status).toBe(200)
})

test('[US12] the account of a session’s user has no rights without the session, nor with another one', async () => {
  const backend = await serviceAccountOf(service, owner)
  const board = await makeBoard(owner)
  const all = { workspace_id: owner.workspaceId }
  const { session } = await mint(service, backend, { ...all, user: { id: 'sql', name: 'S' } })
  const account = session.user.account_id
  const claims = {
    ...{
      account,
      minter: backend.accountId,
      token: backend.tokenId,
      workspace: owner.workspaceId,
      boards: null,
    },
    ...{ role: 'editor' as const, scopes: ['read', 'write'], history: false, agent: false },
    ...{ issued: session.issued_at, expires: session.expires_at },
  }
  const boards = () =>
    service.database.asUser(account, (tx) => tx<{ id: string }[]>`select id from boards order by id`)
  expect(await boards()).toEqual([])
  const visible = await withSession(claims, boards)
  expect(visible.map(({ id }) => id)).toContain(board.id)
  for (const changed of [
    { account: randomUUID() },
    { minter: account },
    { workspace: randomUUID() },
    { boards: [] },
  ])
    expect(await withSession({ ...claims, ...changed }, boards)).toEqual([])
  // Also of a whole workspace, what is not for sessions is out of reach.
  const hook = { workspace_id: owner.workspaceId, url: 'https://example.com/', events: ['*'] }
  await service.admin`
    insert into webhooks (workspace_id, created_by, url, events, secret)
    values (${hook.workspace_id}, ${owner.userId}, ${hook.url}, '{*}', '')`
  const reached = await withSession(claims, () =>
    service.database.asUser(
      account,
      (tx) => tx`
        select (select count(*) from webhooks)::integer as webhooks, (select count(*) from tokens)::integer as tokens,
          (select count(*) from service_accounts)::integer as accounts`,
    ),
  )
  expect(reached[0]).toEqual({ webhooks: 0, tokens: 0, accounts: 0 })
})

test('[US8] a user without a session for 30 days sees no history of that time; what has ended is forgotten after a day', async () => {
  const backend = await serviceAccountOf(service, owner)
  const board = await makeBoard(owner)
  const asked = { board_ids: [board.id], history: true }
  for (const id of ['away', 'here']) {
    const { api } = await mint(service, backend, { ...asked, user: { id, name: id } })
    expect((await api.get(`/boards/${board.id}/history`)).status).toBe(200)
  }
  succeeded(await backend.api.delete('/sessions', { user_id: 'long ago' }))
  succeeded(await backend.api.delete('/sessions', { user_id: 'just now' }))
  await service.admin`update session_users set live_until = now() - interval '31 days' where external_id = 'away'`
  await service.admin`update ended_sessions set ended_at = now() - interval '25 hours' where external_id = 'long ago'`
  const loop = startRetention({ ...parts(), auditDays: 10 }, { intervalMs: 20 })
  onTestFinished(() => loop.stop())
  const kept = () => service.admin<{ id: string }[]>`
    select s.external_id as id from session_history h join session_users s on s.id = h.user_id
    where h.place_id = ${board.id}
    union all
    select external_id from ended_sessions where external_id in ('long ago', 'just now')`
  await until(async () => (await kept()).length === 2, 'the old ones are gone')
  expect((await kept()).map(({ id }) => id)).toEqual(['here', 'just now'])
})

test('[US14] one user is erased: the session ends, history and audit have no name, what they wrote stays', async () => {
  const leaver = await service.user()
  const board = await makeBoard(leaver)
  const user = { id: 'gone@example.test', name: 'Somebody' }
  const { session, api } = await mint(service, leaver, { board_ids: [board.id], user })
  succeeded(await api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }))
  const account = await service.database.asSystem((tx) => findSessionUser(tx, leaver.workspaceId, user.id))
  expect(account).toBe(session.user.account_id)
  await eraseAccount(parts(), account!)
  await until(async () => (await api.get('/me')).status === 401, 'the session has ended', 2000)
  const told = await Promise.all(
    ['/audit', `/boards/${board.id}/history`].map(async (path) => (await leaver.api.get(path)).text),
  )
  expect(told.join()).not.toMatch(/gone@example|Somebody/)
  expect(succeeded(await leaver.api.get(`/boards/${board.id}/cards`)).total).toBe(1)
})

test('[US14] an erased owner leaves no user of its sessions, and the audit no name', async () => {
  const leaver = await service.user()
  const board = await makeBoard(leaver)
  const { session, api } = await mint(service, leaver, {
    board_ids: [board.id],
    user: { id: 'e', name: 'Erased' },
  })
  succeeded(await api.patch(`/boards/${board.id}`, { name: 'Named' }))
  const account = session.user.account_id
  await eraseAccount(parts(), leaver.userId)
  expect(await service.admin`select from users where id = ${account}`).toHaveLength(0)
  expect(
    await service.admin`select from session_users where workspace_id = ${leaver.workspaceId}`,
  ).toHaveLength(0)
  const named = await service.admin`
    select from audit_operations where user_id = ${account} and (display_name is not null or ip <> '')`
  expect(named).toHaveLength(0)
})
