import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/editor.ts'
import { holdLock, lockBoard, underWay } from '../support/held-lock.ts'
import { ApiClient, type ApiAnswer } from '../support/http.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'
import { makeBoard, succeeded } from './board.ts'

const hour = 3_600_000

let service: TestService
let owner: TestUser
let ahead = 0
const clock = { now: () => Date.now() + ahead }

beforeAll(async () => {
  service = await startService({ workers: false, clock })
  owner = await service.user()
})
afterAll(() => service.stop())

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })
const isReplay = ({ headers }: ApiAnswer<unknown>) => headers.get('idempotent-replay') === 'true'
const cardsOn = async (boardId: string) =>
  (await service.admin`select card_id from card_index where board_id = ${boardId}`).length
const boardsNamed = async (name: string) =>
  (await service.admin`select id from boards where name = ${name}`).length

test('[ID1] every POST is replayed byte for byte, and works once', async () => {
  const board = await makeBoard(owner)
  const hook = { workspace_id: owner.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }
  const posts: [string, unknown][] = [
    ['/boards', { name: 'Once' }],
    ['/boards', { boards: [{ name: 'One' }, { name: 'Two' }] }],
    ['/boards/move', { board_ids: [board.id] }],
    [`/boards/${board.id}/cards`, { kind: 'note', title: 'Once', x: 0, y: 0 }],
    [`/boards/${board.id}/cards`, { cards: [{ kind: 'note' }, { kind: 'note' }] }],
    [`/boards/${board.id}/groups`, { name: 'Once' }],
    [`/boards/${board.id}/arrange`, { layout: 'row' }],
    [`/boards/${board.id}/restore`, undefined],
    ['/webhooks', hook],
    ['/service-accounts', { workspace_id: owner.workspaceId, name: 'Once' }],
  ]
  const state = async () =>
    (
      await service.admin`
      select (select count(*) from boards) as boards, (select count(*) from card_index) as cards, (select count(*) from tokens) as tokens,
        (select count(*) from group_index) as groups, (select count(*) from webhooks) as webhooks,
        (select sum(seq) from board_documents) as log, (select count(*) from audit_operations) as audit`
    )[0]
  for (const [path, body] of posts) {
    const headers = keyed()
    const first = await owner.api.post(path, body, headers)
    expect(first.status, first.text).toBeLessThan(300)
    expect(isReplay(first)).toBe(false)
    const before = await state()
    const second = await owner.api.post(path, body, headers)
    expect([second.status, second.text], path).toEqual([first.status, first.text])
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(isReplay(second)).toBe(true)
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect(await state()).toEqual(before)
  }
})

test('[ID2] of 50 concurrent POSTs with one key one does the work', async () => {
  const board = await makeBoard(owner)
  for (const [path, body, made] of [
    [`/boards/${board.id}/cards`, { kind: 'note', x: 0, y: 0 }, () => cardsOn(board.id)],
    [`/boards/${board.id}/cards`, { kind: 'note' }, async () => (await cardsOn(board.id)) - 1],
    ['/boards', { name: 'Of fifty' }, () => boardsNamed('Of fifty')],
  ] as [string, object, () => Promise<number>][]) {
    const headers = keyed()
    const answers = await Promise.all(Array.from({ length: 50 }, () => owner.api.post(path, body, headers)))
    const worked = answers.filter((answer) => answer.status === 201 && !isReplay(answer))
    expect(worked).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.text).toBe(worked[0]!.text)
      else expect([answer.status, (answer.body as any).code]).toEqual([409, 'idempotency_in_progress'])
    }
    expect(await made()).toBe(1)
    expect((await owner.api.post(path, body, headers)).text).toBe(worked[0]!.text)
  }
})

test('[ID3] another request under a key conflicts; other accounts and paths have their own', async () => {
  const [board, other] = [await makeBoard(owner), await makeBoard(owner)]
  const headers = keyed()
  const path = `/boards/${board.id}/cards`
  const card = { kind: 'note', title: 'first', x: 0, y: 0 }
  expect((await owner.api.post(path, card, headers)).status).toBe(201)
  for (const [where, body] of [
    [path, { ...card, title: 'second' }],
    [path, '{"kind": '],
    [`${path}?x=1`, card],
  ] as const) {
    const { status, body: answer } = await owner.api.post<any>(where, body, headers)
    expect([status, answer.code], where).toEqual([409, 'conflict'])
  }
  expect((await owner.api.post(`/boards/${other.id}/cards`, card, headers)).status).toBe(201)
  const editor = await service.user()
  await service.member(owner.workspaceId, editor, 'editor')
  const theirs = await editor.api.post(path, card, headers)
  expect([theirs.status, isReplay(theirs)]).toEqual([201, false])
  // Another token of the account is the account; blanks in the JSON make no other request.
  const again = await (await service.token(owner, {})).api.post(path, JSON.stringify(card, null, 2), headers)
  expect([again.status, isReplay(again)]).toEqual([201, true])
  expect(await cardsOn(board.id)).toBe(2)
})

test('[ID4] a key is remembered for 24 hours, and not a second longer', async () => {
  const headers = keyed()
  const post = () => owner.api.post('/boards', { name: 'A day' }, headers)
  const first = await post()
  const made = clock.now()
  ahead += 24 * hour - 5000
  const still = await post()
  expect([still.text, isReplay(still)]).toEqual([first.text, true])
  ahead += made + 24 * hour + 1000 - clock.now()
  const later = await post()
  expect([later.status, isReplay(later)]).toEqual([201, false])
  expect(later.text).not.toBe(first.text)
  expect(isReplay(await post())).toBe(true)
  expect(await boardsNamed('A day')).toBe(2)
})

test('[ID5] 400, 413 and 415 are replayed; 403, 404, 409 and 402 are tried anew', async () => {
  const board = await makeBoard(owner)
  const path = `/boards/${board.id}/cards`
  const json = { 'content-type': 'application/json' }
  const kept: [number, string, string, unknown, Record<string, string>][] = [
    [400, '/boards', 'schema', { name: 5 }, {}],
    [400, '/boards', 'handler', { name: '  ' }, {}],
    [400, '/boards', 'malformed', '{"name": ', json],
    [415, '/boards', 'type', 'name', { 'content-type': 'text/plain' }],
    [413, '/boards', 'size', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), json],
  ]
  for (const [status, where, what, body, headers] of kept) {
    const key = keyed()
    const first = await owner.api.post(where, body, { ...headers, ...key })
    expect([first.status, isReplay(first)], what).toEqual([status, false])
    const second = await owner.api.post(where, body, { ...headers, ...key })
    expect([second.status, isReplay(second), second.text], what).toEqual([status, true, first.text])
    const other = await owner.api.post<any>(where, { name: 'Good' }, key)
    expect([other.status, other.body.code], what).toEqual([409, 'conflict'])
  }
  const key = keyed()
  const card = { kind: 'note', x: 0, y: 0 }
  await owner.api.delete(`/boards/${board.id}`)
  expect((await owner.api.post(path, card, key)).status).toBe(409)
  await owner.api.post(`/boards/${board.id}/restore`)
  expect((await owner.api.post(path, card, key)).status).toBe(201)

  const [guest, late] = [await service.user(), keyed()]
  expect((await guest.api.post(path, card, late)).status).toBe(404)
  await service.share(board.id, guest, 'viewer')
  expect((await guest.api.post(path, card, late)).status).toBe(403)
  await service.share(board.id, guest, 'editor')
  expect((await guest.api.post(path, card, late)).status).toBe(201)
})

test('[ID7] backends terminated in the middle: the retry succeeds once, and no 409 sticks', async () => {
  const board = await makeBoard(owner)
  const path = `/boards/${board.id}/cards`
  for (let round = 0; round < 3; round++) {
    const headers = keyed()
    const card = { kind: 'note', title: `round ${round}`, x: 0, y: 0 }
    const release = await lockBoard(service.admin, board.id)
    const first = owner.api.post(path, card, headers)
    await underWay(service.admin)
    expect((await owner.api.post<any>(path, card, headers)).body.code).toBe('idempotency_in_progress')
    await service.admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'corkboard' and pid <> pg_backend_pid()`
    await release()
    const { status } = await first
    expect([201, 503]).toContain(status)
    let answer!: ApiAnswer<any>
    await until(
      async () => ![409, 503].includes((answer = await owner.api.post(path, card, headers)).status),
      'no 409 sticks',
    )
    expect(answer.status, answer.text).toBe(201)
    expect(await cardsOn(board.id)).toBe(round + 1)
  }
}, 60_000)

test('[ID8] answers that were lost after the commit are made again, with their secrets', async () => {
  const board = await makeBoard(owner)
  const hook = { workspace_id: owner.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }
  const { webhook } = succeeded(await owner.api.post<any>('/webhooks', hook))
  const { service_account: account } = succeeded(
    await owner.api.post<any>('/service-accounts', { workspace_id: owner.workspaceId, name: 'Robot' }),
  )
  const identified = { name: 'There', identifiers: [{ scope: 's', value: randomUUID() }] }
  await makeBoard(owner, identified)
  const posts: [string, unknown][] = [
    ['/boards', { name: 'Lost answer' }],
    ['/boards', { boards: [{ name: 'One' }, { name: 'Two' }] }],
    ['/boards', { on_conflict: 'identifier', boards: [{ name: 'New' }, { ...identified, name: 'Newer' }] }],
    [`/boards/${board.id}/cards`, { kind: 'note', title: 'Lost', x: 5, y: 6 }],
    [`/boards/${board.id}/groups`, { name: 'Lost' }],
    ['/webhooks', hook],
    [`/webhooks/${webhook.id}/rotate-secret`, undefined],
    ['/service-accounts', { workspace_id: owner.workspaceId, name: 'Lost', scopes: ['write'] }],
    [`/service-accounts/${account.id}/tokens`, { scopes: ['write'] }],
  ]
  for (const [path, body] of posts) {
    const headers = keyed()
    const first = await owner.api.post<any>(path, body, headers)
    await service.admin`update idempotency_keys set response = null where response is not null`
    const again = await owner.api.post<any>(path, body, headers)
    expect([again.status, isReplay(again)], path).toEqual([first.status, true])
    expect(again.body, path).toEqual(first.body)
    const third = await owner.api.post<any>(path, body, headers)
    expect([third.text, isReplay(third)], path).toEqual([again.text, true])
  }
  expect(await boardsNamed('Lost answer')).toBe(1)
})

test('[ID9] an attempt that was overtaken writes nothing', async () => {
  const board = await makeBoard(owner)
  const path = `/boards/${board.id}/cards`
  for (const [where, body, count, lock] of [
    [
      path,
      { kind: 'note', x: 0, y: 0 },
      () => cardsOn(board.id),
      'lock table board_documents in access exclusive mode',
    ],
    ['/boards', { name: 'Overtaken' }, () => boardsNamed('Overtaken'), 'lock table boards in share mode'],
  ] as [string, object, () => Promise<number>, string][]) {
    const headers = keyed()
    const release = await holdLock(service.admin, (connection) => connection.unsafe(lock))
    const overtaken = owner.api.post<any>(where, body, headers)
    await until(
      async () =>
        (await service.admin`select from pg_locks where not granted and relation is not null`).length > 0,
      'its work waits',
    )
    // As one does whose commit is late.
    const id = createHash('sha256')
    for (const part of [owner.userId, 'POST', `/api/v1${where}`, headers['idempotency-key']])
      id.update(`${part.length}:${part}`)
    const key = id.digest()
    await service.admin`
      insert into idempotency_keys (id, user_id, fingerprint, attempt, created_at)
      values (${key}, ${owner.userId}, '', gen_random_uuid(), now())`
    await release()
    const { status, body: answer } = await overtaken
    expect([status, answer.code], where).toEqual([409, 'idempotency_in_progress'])
    expect(await count()).toBe(0)
    await service.admin`delete from idempotency_keys where id = ${key}`
    expect((await owner.api.post(where, body, headers)).status).toBe(201)
    expect(await count()).toBe(1)
  }
})

test('[ID10] a key has 1 to 255 characters, and matters to POST alone', async () => {
  const long = await owner.api.post<any>('/boards', { name: 'Long' }, keyed('k'.repeat(256)))
  expect([long.status, long.body.error]).toEqual([400, expect.stringContaining('Idempotency-Key')])
  expect((await owner.api.post('/boards', { name: 'Long' }, keyed(''))).status).toBe(400)
  expect(await boardsNamed('Long')).toBe(0)
  expect((await owner.api.post('/boards', { name: 'Long' }, keyed('k'.repeat(255)))).status).toBe(201)
  const board = await makeBoard(owner)
  const headers = keyed()
  for (const name of ['one', 'two']) {
    const answer = await owner.api.send('PATCH', `/boards/${board.id}`, { name }, headers)
    expect([answer.status, isReplay(answer)]).toEqual([200, false])
  }
  expect(isReplay(await owner.api.get('/me', headers))).toBe(false)
})

test('[ID11] the database holds no token, no secret and no readable answer', async () => {
  const marker = `canary-${randomUUID()}`
  const key = keyed(`key-${marker}`)
  const hook = { workspace_id: owner.workspaceId, url: 'https://93.184.215.14/', events: ['*'] }
  const { secret } = succeeded(await owner.api.post<any>('/webhooks', hook, key))
  const { access_token: token, service_account: account } = succeeded(
    await owner.api.post<any>('/service-accounts', { workspace_id: owner.workspaceId, name: 'Robot' }, key),
  )
  const { access_token: second } = succeeded(
    await owner.api.post<any>(`/service-accounts/${account.id}/tokens`, {}, key),
  )
  const refused = await owner.api.post(
    '/boards',
    { name: 'x', view: 'list', props: { [marker]: 1 }, boards: marker },
    key,
  )
  expect(refused.status).toBe(400)
  const tables = await service.admin<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'corkboard'::regnamespace and relkind = 'r'`
  let dump = ''
  for (const { name } of tables) {
    const rows = await service.admin`select ${service.admin(name)}::text as text from ${service.admin(name)}`
    // Bytes are dumped in hexadecimal.
    for (const { text } of rows)
      dump += `${text}\n${String(text).replace(/\\+x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'))}\n`
  }
  expect(dump).toContain(account.id)
  for (const canary of [owner.token, token, second, secret, marker, 'access_token', token.slice(6, 40)])
    expect(dump.includes(canary), canary).toBe(false)
  expect(dump.includes(Buffer.from(token).toString('base64'))).toBe(false)
})

test('[ID12] a rotated token still replays', async () => {
  const made = succeeded(
    await owner.api.post<any>('/service-accounts', {
      workspace_id: owner.workspaceId,
      name: 'Robot',
      scopes: ['write'],
    }),
  )
  const next = succeeded(
    await owner.api.post<any>(`/service-accounts/${made.service_account.id}/tokens`, { scopes: ['write'] }),
  )
  const [old, fresh] = [made, next].map(({ access_token: token }) => new ApiClient(service.url, token))
  const headers = keyed()
  const first = await old!.post('/boards', { name: 'Rotated' }, headers)
  const second = await fresh!.post('/boards', { name: 'Rotated' }, headers)
  expect([second.status, isReplay(second), second.text]).toEqual([201, true, first.text])
})
