import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { actionOf } from '../../api/http/action.ts'
import { routes } from '../../api/routes.ts'
import { recordFor } from '../../sql/requests/audit.ts'
import { Operation } from '../../sql/operation.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { until } from '../support/editor.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'

let service: TestService
let owner: TestUser

beforeAll(async () => {
  service = await startService({ workers: false })
  owner = await service.user({ name: 'Ada' })
})
afterAll(() => service.stop())

interface Entry {
  id: string
  occurred_at: string
  action: string
  actor: Record<string, string | null>
  method: string
  path: string
  status: number
  workspace_id: string | null
  board_id: string | null
  resource: { type: string | null; id: string | null }
  request_id: string
  ip: string
}

const newest = async (user: TestUser, count: number): Promise<Entry[]> =>
  succeeded(await user.api.get<any>(`/audit?limit=${count}`)).entries

const entryOf = async (user: TestUser, answer: { headers: Headers }) => {
  const id = answer.headers.get('x-request-id')
  return (await newest(user, 500)).filter(({ request_id }) => request_id === id)
}

test('[AU1, AU2] each write leaves one entry that tells who did what where', async () => {
  const user = await service.user({ name: 'Grace' })
  const board = await makeBoard(user, { name: 'Before' })
  const [card, other] = await makeCards(user, board.id, [{ title: 'one' }, { title: 'two' }])
  const { group } = succeeded(
    await user.api.post<any>(`/boards/${board.id}/groups`, { name: 'Secret group' }),
  )
  const hook = { workspace_id: user.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }
  const made = await user.api.post<any>('/webhooks', hook)
  const webhookId = made.body.webhook.id
  const robot = await user.api.post<any>('/service-accounts', {
    workspace_id: user.workspaceId,
    name: 'Robot',
  })
  const robotId = robot.body.service_account.id
  const at = `/boards/${board.id}`
  const send = user.api.send.bind(user.api)
  const cards = `${at}/cards`
  const writes: [string, string, unknown, string, [string, string]][] = [
    ['PATCH', at, { name: 'A secret name' }, 'board.update', ['board', board.id]],
    ['POST', cards, { kind: 'note', body: 'A secret text', x: 0, y: 0 }, 'card.create', ['board', board.id]],
    ['POST', cards, { kind: 'note', group_id: group.id }, 'card.create', ['board', board.id]],
    [
      'PATCH',
      cards,
      { cards: [{ id: card!.id, title: 'A secret title' }] },
      'card.update',
      ['board', board.id],
    ],
    ['PATCH', `${cards}/${card!.id}`, { title: 'Another' }, 'card.update', ['card', card!.id]],
    ['DELETE', `${cards}/${card!.id}`, undefined, 'card.delete', ['card', card!.id]],
    ['DELETE', cards, { card_ids: [other!.id] }, 'card.delete', ['board', board.id]],
    ['POST', `${at}/arrange`, { layout: 'row' }, 'board.arrange', ['board', board.id]],
    ['PATCH', `${at}/groups/${group.id}`, { name: 'New' }, 'group.update', ['group', group.id]],
    ['DELETE', `${at}/groups/${group.id}`, undefined, 'group.delete', ['group', group.id]],
    ['DELETE', at, undefined, 'board.delete', ['board', board.id]],
    ['POST', `${at}/restore`, undefined, 'board.restore', ['board', board.id]],
    ['PATCH', `/webhooks/${webhookId}`, { name: 'New' }, 'webhook.update', ['webhook', webhookId]],
    [
      'POST',
      `/webhooks/${webhookId}/rotate-secret`,
      undefined,
      'webhook.rotate_secret',
      ['webhook', webhookId],
    ],
    ['DELETE', `/webhooks/${webhookId}`, undefined, 'webhook.delete', ['webhook', webhookId]],
    ['POST', `/service-accounts/${robotId}/tokens`, {}, 'token.create', ['service_account', robotId]],
    [
      'DELETE',
      `/service-accounts/${robotId}`,
      undefined,
      'service_account.delete',
      ['service_account', robotId],
    ],
  ]
  for (const [method, path, body, action, [type, id]] of writes) {
    const answer = await send(method, `${path}?secret=A-secret-query`, body)
    const entries = await entryOf(user, answer)
    expect(entries, `${method} ${path}: ${answer.text.slice(0, 200)}`).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        occurred_at: expect.any(String),
        action,
        actor: {
          user_id: user.userId,
          display_name: 'Grace',
          token_id: user.tokenId,
          service_account_id: null,
          client_id: null,
        },
        method,
        path: `/api/v1${path}`,
        status: answer.status,
        workspace_id: user.workspaceId,
        board_id: path.startsWith('/boards') ? board.id : null,
        resource: { type, id },
        request_id: answer.headers.get('x-request-id'),
        ip: '127.0.0.1',
      },
    ])
  }
  const [row] = await entryOf(user, made)
  expect(row).toMatchObject({
    action: 'webhook.create',
    workspace_id: user.workspaceId,
    resource: { id: webhookId },
  })
  const text = JSON.stringify(await service.admin`select * from audit_operations`)
  expect(text).not.toMatch(/secret (name|text|title|group)|secret-query/)
  for (const secret of [user.token, made.body.secret, robot.body.access_token])
    expect(text).not.toContain(secret)
})

test('[AU1] what is refused or only read leaves nothing', async () => {
  const board = await makeBoard(owner)
  const [viewer, reader] = [await service.user(), await service.token(owner, { scopes: ['read'] })]
  await service.member(owner.workspaceId, viewer, 'viewer')
  const before = (await service.admin`select id from audit_operations`).length
  const statuses = [
    await owner.api.get(`/boards/${board.id}`),
    await owner.api.post(`/boards/${board.id}/cards`, { kind: 'none' }),
    await owner.api.post(`/boards/${board.id}/arrange`, { dry_run: true }),
    await owner.api.patch(`/boards/${board.id}`, { name: '' }),
    await owner.api.patch(`/boards/${board.id}`, { parent_board_id: randomUUID() }),
    await viewer.api.patch(`/boards/${board.id}`, { name: 'x' }),
    await viewer.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }),
    await reader.api.delete(`/boards/${board.id}`),
    await owner.api.delete(`/boards/${board.id}/cards/none`),
  ].map(({ status }) => status)
  expect(statuses).toEqual([200, 400, 200, 400, 404, 403, 403, 403, 404])
  expect((await service.admin`select id from audit_operations`).length).toBe(before)
})

test('[AU1] an entry and its write are in one transaction: what cannot be told is not done', async () => {
  const board = await makeBoard(owner, { name: 'Old' })
  await service.admin`alter table audit_operations add constraint closed check (false) not valid`
  onTestFinished(
    async () => void (await service.admin`alter table audit_operations drop constraint if exists closed`),
  )
  expect((await owner.api.patch(`/boards/${board.id}`, { name: 'New' })).status).toBe(500)
  expect((await owner.api.post(`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 })).status).toBe(500)
  await service.admin`alter table audit_operations drop constraint closed`
  expect((await owner.api.get<any>(`/boards/${board.id}`)).body.board.name).toBe('Old')
  expect((await owner.api.get<any>(`/boards/${board.id}/cards`)).body.cards).toEqual([])
})

test('[AU1] every operation of the API has a name of its own kind', () => {
  const names = routes
    .filter(({ method }) => method !== 'GET')
    .map((route) => [`${route.method} ${route.path}`, actionOf(route)])
  for (const [, name] of names) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/)
  expect(Object.fromEntries(names)).toMatchObject({
    'POST /boards': 'board.create',
    'POST /boards/move': 'board.move',
    'POST /boards/:id/cards': 'card.create',
    'POST /webhooks/:id/deliveries/:deliveryId/redeliver': 'delivery.redeliver',
    'DELETE /service-accounts/:id/tokens/:tokenId': 'token.delete',
  })
})

test('[AU3] the owner sees all of the workspace, an editor its own, a stranger nothing', async () => {
  const user = await service.user()
  const [editor, stranger] = [await service.user(), await service.user()]
  await service.member(user.workspaceId, editor, 'editor')
  const board = await makeBoard(user)
  await makeCards(editor, board.id, [{ title: 'by the editor' }])
  const own = await makeBoard(editor)
  const actions = async (who: TestUser) =>
    (await newest(who, 10)).map(({ action, board_id }) => [action, board_id])
  expect(await actions(user)).toEqual([
    ['card.create', board.id],
    ['board.create', board.id],
  ])
  expect(await actions(editor)).toEqual([
    ['board.create', own.id],
    ['card.create', board.id],
  ])
  expect(await actions(stranger)).toEqual([])
  const { service_account: account, access_token: token } = succeeded(
    await user.api.post<any>('/service-accounts', {
      workspace_id: user.workspaceId,
      name: 'Robot',
      scopes: ['write'],
    }),
  )
  const answer = await fetch(`${service.url}/api/v1/boards/${board.id}/cards`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'note', x: 0, y: 0 }),
  })
  const [entry] = await entryOf(user, answer)
  expect(entry!.actor).toMatchObject({
    user_id: account.id,
    service_account_id: account.id,
    display_name: 'Robot',
  })
})

test('[AU4] pages go back in time, and a follower meets each entry once while many write', async () => {
  const user = await service.user()
  const boards = await Promise.all(Array.from({ length: 4 }, () => makeBoard(user)))
  const started = new Date(Date.now() - 60_000).toISOString()
  const seen: string[] = []
  let cursor: string | null = null
  const follow = async () => {
    const query: string = cursor ? `cursor=${encodeURIComponent(cursor)}` : `since=${started}`
    const { body } = await user.api.get<any>(`/audit?limit=7&${query}`)
    seen.push(...body.entries.map(({ id }: Entry) => id))
    cursor = body.next_cursor
    return body.has_more as boolean
  }
  const writing = Promise.all(
    boards.map(async ({ id }, n) => {
      for (let turn = 0; turn < 25; turn++) {
        if (n % 2 === 0) await user.api.patch(`/boards/${id}`, { name: `Turn ${turn}` })
        else await user.api.post(`/boards/${id}/cards`, { kind: 'note', x: 0, y: 0 })
      }
    }),
  )
  let written = false
  void writing.then(() => (written = true))
  await until(async () => !(await follow()) && written, 'the writers are done', 20_000)
  const all = (await service.admin`select id from audit_operations where user_id = ${user.userId}`).map(
    (row) => String(row['id']),
  )
  expect(all).toHaveLength(104)
  await until(async () => (await follow(), seen.length >= all.length), 'the follower has all', 5000)
  expect(seen.toSorted()).toEqual(all.toSorted())

  const walked: string[] = []
  let page = (await user.api.get<any>('/audit?limit=30')).body
  for (;;) {
    walked.push(...page.entries.map(({ id }: Entry) => id))
    if (!page.has_more) break
    page = (await user.api.get<any>(`/audit?limit=30&cursor=${encodeURIComponent(page.next_cursor)}`)).body
  }
  expect(page.next_cursor).toBeNull()
  expect(walked).toEqual(seen.toReversed())
})

test('[AU5] a request’s role reads alone, and the service itself changes nothing', async () => {
  await makeBoard(owner)
  const grants = await service.admin`
    select grantee, privilege_type from information_schema.table_privileges
    where table_name = 'audit_operations' and grantee like 'corkboard\_%' order by 1, 2`
  expect(grants.map((row) => Object.values(row).join(' '))).toEqual([
    'corkboard_app SELECT',
    'corkboard_system DELETE',
    'corkboard_system INSERT',
    'corkboard_system SELECT',
  ])
  const refused = { code: '42501' }
  const { database } = service
  await expect(database.asUser(owner.userId, (tx) => tx`delete from audit_operations`)).rejects.toMatchObject(
    refused,
  )
  await expect(database.asSystem((tx) => tx`update audit_operations set path = ''`)).rejects.toMatchObject(
    refused,
  )
})

test('[AU6] entries go after the configured days', async () => {
  const user = await service.user()
  const boards = [await makeBoard(user), await makeBoard(user), await makeBoard(user)]
  const day = 86_400_000
  const now = Date.now()
  for (const [n, age] of [9.9, 10.1, 4000].entries()) {
    const at = new Date(now - age * day)
    await service.admin`update audit_operations set occurred_at = ${at} where resource_ids = ${[boards[n]!.id]}`
  }
  const log = { info() {}, warn() {}, error() {}, debug() {} }
  const clock = { now: () => now }
  const loop = startRetention({ database: service.database, clock, log, auditDays: 10 }, { intervalMs: 20 })
  onTestFinished(() => loop.stop())
  await until(async () => (await newest(user, 10)).length === 1, 'old entries are gone')
  expect((await newest(user, 10)).map(({ board_id }) => board_id)).toEqual([boards[0]!.id])
})

test('[AU7] reads are told together, and at the latest when the service stops', async () => {
  const { ReadAudit } = await import('../../api/audit/reads.ts')
  const user = await service.user({ name: 'Reader' })
  const reads = new ReadAudit({ database: service.database, log: service.app.log })
  const principal = {
    userId: user.userId,
    tokenId: user.tokenId,
    serviceAccountId: null,
    grantId: null,
    clientId: null,
    displayName: 'Reader',
    email: '',
    tier: 'pro' as const,
    scopes: ['read' as const],
    rateLimit: null,
  }
  const request = { method: 'GET', url: '/api/v1/images/abc?secret=1', id: 'r1', ip: '127.0.0.1' } as never
  const read = { request, principal, workspaceId: user.workspaceId, boardId: null, status: 200 }
  for (let n = 0; n < 1200; n++) reads.imageRead({ ...read, imageKey: `k${n}` })
  await reads.flush()
  const entries = await newest(user, 500)
  expect(entries).toHaveLength(500)
  expect(entries[0]).toMatchObject({
    action: 'image.read',
    path: '/api/v1/images/abc',
    resource: { type: 'image' },
    workspace_id: user.workspaceId,
  })
  const rows = await service.admin`
    select count(distinct resource_ids)::integer as count, count(distinct occurred_at)::integer as writes
    from audit_operations where user_id = ${user.userId}`
  expect(rows[0]).toEqual({ count: 1200, writes: 3 })
})

test('[AU8] a bulk operation leaves an entry for each board', async () => {
  const user = await service.user()
  const made = await user.api.post<any>('/boards', { boards: [{ name: 'A' }, { name: 'B' }, { name: 'C' }] })
  const ids = made.body.boards.map(({ id }: { id: string }) => id)
  expect((await entryOf(user, made)).map(({ board_id }) => String(board_id)).toSorted()).toEqual(
    ids.toSorted(),
  )
  const moved = await user.api.post<any>('/boards/move', {
    board_ids: ids.slice(1),
    parent_board_id: ids[0],
  })
  expect((await entryOf(user, moved)).map(({ resource }) => String(resource.id)).toSorted()).toEqual(
    ids.slice(1).toSorted(),
  )
  const deleted = await user.api.delete<any>('/boards', { board_ids: [...ids, randomUUID()] })
  const entries = await entryOf(user, deleted)
  expect(entries.map(({ workspace_id }) => workspace_id)).toEqual(ids.map(() => user.workspaceId))
})

test('[AU12] pages go through the entries of one operation, each once', async () => {
  const [user, other] = [await service.user(), await service.user()]
  await service.member(other.workspaceId, user, 'editor')
  const made = await user.api.post<any>('/boards', {
    boards: Array.from({ length: 30 }, (_, n) => ({
      name: `Scene ${n}`,
      workspace_id: [user.workspaceId, other.workspaceId][n % 2],
    })),
  })
  const walk = async (who: TestUser, limit: number, from: string) => {
    const walked: Entry[] = []
    for (let query = from; ;) {
      const page = succeeded(await who.api.get<any>(`/audit?limit=${limit}&${query}`))
      walked.push(...page.entries)
      if (!page.has_more) return walked
      query = `cursor=${encodeURIComponent(page.next_cursor)}`
    }
  }
  const boardsOf = (workspaceId: string) =>
    made.body.boards.filter((one: any) => one.workspace_id === workspaceId).map((one: any) => one.id)
  const since = `since=${new Date(Date.now() - 60_000).toISOString()}`
  for (const limit of [1, 7, 500]) {
    const followed = await walk(user, limit, since)
    expect(new Set(followed.map(({ id }) => id)).size).toBe(30)
    for (const workspaceId of [user.workspaceId, other.workspaceId]) {
      const there = followed.filter((one) => one.workspace_id === workspaceId)
      expect(there.map(({ board_id }) => board_id)).toEqual(boardsOf(workspaceId))
      expect(there.map(({ resource }) => resource)).toEqual(
        boardsOf(workspaceId).map((id: string) => ({ type: 'board', id })),
      )
    }
    expect(await walk(user, limit, '')).toEqual(followed.toReversed())
  }
  const ofOther = await walk(other, 4, since)
  expect(ofOther.map(({ board_id }) => board_id)).toEqual(boardsOf(other.workspaceId))

  // As they were kept before: a row for each entry, with ids one after the other.
  const place = { at: new Date(), first: 5_000_000_000 }
  await service.admin`
    insert into audit_operations (
      id, occurred_at, action, user_id, method, path, status, resource_type, resource_ids, request_id, ip
    ) overriding system value
    select ${place.first}::bigint + n, ${place.at}, 'image.read', ${other.userId}, 'GET', '/', 200, 'image', array['old-' || n], 'old', ''
    from generate_series(1, 100) n`
  const old = (await walk(other, 7, since)).filter(({ request_id }) => request_id === 'old')
  expect(old.map(({ resource }) => resource.id)).toEqual(
    Array.from({ length: 100 }, (_, n) => `old-${n + 1}`),
  )

  const ids = Array.from({ length: 2346 }, (_, n) => `many-${n}`)
  const named = { type: 'service', ids: [null] }
  const operation = new Operation({
    action: 'image.delete',
    display_name: null,
    token_id: null,
    service_account_id: null,
    client_id: null,
    method: 'DELETE',
    path: '/',
    status: 200,
    request_id: 'many',
    ip: '127.0.0.1',
    trace: null,
    named,
    key: null,
  })
  operation.concerns({ type: 'image', ids })
  await service.database.asSystem((tx) => recordFor(tx, user.userId, operation))
  const entries = (await walk(user, 499, since)).slice(30)
  expect(entries.map(({ resource }) => resource.id)).toEqual(ids)
  expect(new Set(entries.map(({ id }) => id)).size).toBe(2346)
  expect((await walk(user, 500, '')).slice(0, 2346)).toEqual(entries.toReversed())
})

test('[AU9] a cursor that is none, and a time that is none, are 400', async () => {
  for (const query of [
    'cursor=x',
    'cursor=before|2026-01-01T00:00:00Z|x',
    'cursor=sideways|2026-01-01T00:00:00Z|1',
    'since=yesterday',
    'since=2026-01-01T00:00:00Z&cursor=before|2026-01-01T00:00:00Z|1',
    'limit=501',
    'limit=0',
  ])
    expect((await owner.api.get(`/audit?${query}`)).status, query).toBe(400)
})
