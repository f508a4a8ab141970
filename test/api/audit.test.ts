/** Reading the audit: who sees which entries, its pages, and how long it is kept. */
import { expect, onTestFinished, test } from 'vitest'
import { recordFor } from '../../sql/requests/audit.ts'
import { Operation } from '../../sql/operation.ts'
import { startRetention } from '../../workers/upkeep/retention.ts'
import { until } from '../support/editor.ts'
import type { TestUser } from '../support/service.ts'
import { serviceOfFile } from '../support/test-file.ts'
import { entryOf, newest, type Entry } from './audit.ts'
import { makeBoard, makeCards, succeeded } from './board.ts'

const { service, user: owner } = await serviceOfFile({ workers: false })

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
