import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import postgres, { type Sql } from 'postgres'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import { png } from '../api/file.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import {
  corkboard,
  makeDataDir,
  startInstance,
  testDataDir,
  type Instance,
  type Outcome,
} from '../support/instance.ts'

let instance: Instance
let admin: Sql

beforeAll(async () => {
  instance = await startInstance(await makeDataDir(afterAll))
  const running = await findEmbedded(instance.dataDir)
  admin = postgres(running!.adminUrl.replace(/postgres$/, 'corkboard'), {
    max: 1,
    connection: { search_path: 'corkboard' },
  })
})

afterAll(async () => {
  await admin.end()
  await instance.stop()
})

interface Account {
  user_id: string
  email: string
  workspace_id: string
  token: string
  token_id: string
}

/** Runs a command on the running instance, from this process. `[O28]` runs commands as processes. */
const run = (...args: string[]): Promise<Outcome> =>
  runHere(args, { DATABASE_URL: '', DATA_DIR: instance.dataDir })

/** Runs a command that has to succeed, and reads its one line. */
async function answerOf<Answer>(...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await run(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(stdout) as Answer
}

const addUser = (email: string, ...more: string[]) =>
  answerOf<Account>('user', 'add', '--email', email, '--name', 'Somebody', ...more)

const apiOf = ({ token }: { token: string }) => new ApiClient(instance.url, token)

test('[O20] user add makes an account with a workspace and a token with all scopes', async () => {
  const account = await addUser('ada@example.com')
  expect(Object.keys(account)).toEqual(['user_id', 'email', 'workspace_id', 'token', 'token_id'])
  const me = await apiOf(account).get('/me')
  expect(me.body).toMatchObject({
    user_id: account.user_id,
    email: 'ada@example.com',
    display_name: 'Somebody',
    tier: 'free',
    scopes: ['read', 'write', 'delete'],
  })
  const { body } = await apiOf(account).get('/workspaces')
  expect(body.workspaces).toMatchObject([{ id: account.workspace_id, name: 'Somebody' }])
})

test('[O20] user add takes a tier, scopes and a lifetime', async () => {
  const account = await addUser('pro@example.com', '--tier', 'pro', '--scopes', 'write', '--ttl-days', '30')
  expect((await apiOf(account).get('/me')).body).toMatchObject({ tier: 'pro', scopes: ['read', 'write'] })
  const [token] = await admin`
    select round(extract(epoch from expires_at - created_at) / 86400)::integer as days from tokens where id = ${account.token_id}`
  expect(token).toEqual({ days: 30 })
})

test('[O21] token add makes a token that reads, and token revoke ends it within 2 s', async () => {
  const account = await addUser('token@example.com')
  const options = ['--name', 'backup', '--ttl-days', '7', '--rate-limit', '50']
  const added = await answerOf<Account>('token', 'add', '--email', 'token@example.com', ...options)
  expect(Object.keys(added)).toEqual(['user_id', 'email', 'token', 'token_id'])
  const api = apiOf(added)
  expect((await api.get('/me')).body).toMatchObject({ scopes: ['read'], rate_limit: { limit: 50 } })

  const revoked = await answerOf('token', 'revoke', '--id', added.token_id)
  expect(revoked).toEqual({ token_id: added.token_id, revoked: true })
  await until(async () => (await api.get('/me')).status === 401, 'the token is refused', 2000)
  expect((await apiOf(account).get('/me')).status).toBe(200)
  const again = await run('token', 'revoke', '--id', added.token_id)
  expect(again.code).toBe(1)
  expect(again.stderr).toBe(`corkboard: Token ${added.token_id} does not exist or is already revoked.\n`)
})

test('[O22] workspace add and member set: each role, and handing over', async () => {
  const [owner, member] = [await addUser('owner@example.com'), await addUser('member@example.com')]
  const made = await answerOf<{ workspace_id: string }>(
    'workspace',
    'add',
    '--name',
    'Studio',
    '--owner',
    'owner@example.com',
  )
  expect(made).toEqual({ workspace_id: made.workspace_id, name: 'Studio', owner: 'owner@example.com' })
  const { body } = await apiOf(owner).post('/boards', { name: 'Plans', workspace_id: made.workspace_id })
  const path = `/boards/${body.board.id}`
  const set = (email: string, role: string) =>
    answerOf('member', 'set', '--workspace', made.workspace_id, '--email', email, '--role', role)
  const rights = async (account: Account) => [
    (await apiOf(account).get(path)).status,
    (await apiOf(account).patch(path, { name: 'Plans' })).status,
  ]

  expect(await rights(member)).toEqual([404, 404])
  expect(await set('member@example.com', 'viewer')).toEqual({
    workspace_id: made.workspace_id,
    email: 'member@example.com',
    role: 'viewer',
  })
  expect(await rights(member)).toEqual([200, 403])
  await set('member@example.com', 'editor')
  expect(await rights(member)).toEqual([200, 200])
  await set('member@example.com', 'owner')
  await set('owner@example.com', 'none')
  expect(await rights(member)).toEqual([200, 200])
  expect(await rights(owner)).toEqual([404, 404])
})

test('[O23] board share opens one board to an account, and closes it again', async () => {
  const [owner, guest] = [await addUser('host@example.com'), await addUser('guest@example.com')]
  const { body } = await apiOf(owner).post('/boards', { name: 'Shared' })
  const path = `/boards/${body.board.id}`
  const share = (role: string, ...more: string[]) =>
    answerOf(
      'board',
      'share',
      '--board',
      body.board.id,
      '--email',
      'guest@example.com',
      '--role',
      role,
      ...more,
    )
  const write = async () =>
    (await apiOf(guest).post(`${path}/cards`, { kind: 'note', title: 'By a guest' })).status

  expect(await share('viewer')).toEqual({
    board_id: body.board.id,
    email: 'guest@example.com',
    role: 'viewer',
    history: false,
  })
  expect(await write()).toBe(403)
  const past = async () => (await apiOf(guest).get(`${path}/history`)).status
  expect(await past()).toBe(403)
  expect(await share('viewer', '--history')).toMatchObject({ history: true })
  expect(await past()).toBe(200)
  await share('editor')
  expect(await write()).toBe(201)
  await share('none')
  expect(await write()).toBe(404)
})

test('[Y9] board publish and board cancel act as an account, and refuse what it may not do', async () => {
  const owner = await addUser('planner@example.com')
  await addUser('reader@example.com')
  const { body } = await apiOf(owner).post('/boards', { name: 'Day one' })
  const { id } = body.board
  const act = (action: string, email: string) => ['board', action, '--board', id, '--email', email]
  const published = await answerOf<any>(...act('publish', 'planner@example.com'))
  const read = async () => (await apiOf(owner).get(`/boards/${id}`)).body.board
  const { sched_status, sched_version, sched_published_at } = await read()
  expect([sched_status, sched_version]).toEqual(['published', 1])
  expect(published).toEqual({
    board_id: id,
    email: 'planner@example.com',
    sched_status,
    sched_version,
    sched_published_at,
  })
  const cancelled = await answerOf<any>(...act('cancel', 'planner@example.com'))
  expect(cancelled).toEqual({ ...published, sched_status: 'cancelled' })

  await answerOf('board', 'share', '--board', id, '--email', 'reader@example.com', '--role', 'viewer')
  const refused = await run(...act('publish', 'reader@example.com'))
  expect([refused.code, refused.stderr]).toEqual([
    1,
    'corkboard: Only a writer of the workspace publishes and cancels its boards.\n',
  ])
  await answerOf('board', 'share', '--board', id, '--email', 'reader@example.com', '--role', 'none')
  const missing = await run(...act('cancel', 'reader@example.com'))
  expect([missing.code, missing.stderr]).toEqual([
    1,
    `corkboard: There is no board ${id} that this account can see.\n`,
  ])
  expect((await run(...act('publish', 'nobody@example.com'))).code).toBe(1)
  expect((await run('board', 'publish', '--board', 'x', '--email', 'planner@example.com')).code).toBe(2)
  expect((await read()).sched_version).toBe(1)
})

test(
  '[O24, O51] verify tells equal from different, in a table, and --repair mends',
  { timeout: 120_000 },
  async () => {
    const account = await addUser('verify@example.com')
    const api = apiOf(account)
    const board = (await api.post('/boards', { name: 'Verified' })).body.board.id as string
    const cards = ['a', 'b'].map((title, at) => ({ kind: 'note', title, x: at * 300, y: 0 }))
    const created = (await api.post(`/boards/${board}/cards`, { cards })).body.cards as { id: string }[]
    const [stale, missing] = created.map(({ id }) => id)
    const verify = (...more: string[]) => run('verify', '--board', board, ...more)
    const equal = { code: 0, stdout: '1 board: the index equals the documents.\n', stderr: '' }
    expect(await verify()).toEqual(equal)

    await admin`update card_index set title = 'other' where board_id = ${board} and card_id = ${stale!}`
    await admin`delete from card_index where board_id = ${board} and card_id = ${missing!}`
    const json = await verify('--json')
    expect(json).toMatchObject({ code: 1, stderr: '' })
    expect(json.stdout).toMatch(/^[^\n]*\n$/)
    const told = JSON.parse(json.stdout) as { boards: { differences: { what: string }[] } }
    expect(told).toEqual({ boards: { checked: 1, differences: expect.any(Array) }, files: null })
    // The search index may not have noticed yet that a card is missing.
    expect(told.boards.differences.filter(({ what }) => what !== 'search')).toHaveLength(2)
    expect(told.boards.differences).toEqual(
      expect.arrayContaining([
        { boardId: board, what: 'card', id: stale, fault: 'stale', detail: 'title' },
        expect.objectContaining({ boardId: board, what: 'card', id: missing, fault: 'missing' }),
      ]),
    )

    const all = await run('verify')
    expect(all.code).toBe(1)
    const lines = all.stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^board +what +id +fault +detail$/)
    expect(lines.slice(1, -2).map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        [board, 'card', stale, 'stale', 'title'],
        [board, 'card', missing, 'missing'],
      ]),
    )
    expect(lines.at(-2)).toMatch(/^\d+ boards: [23] differences\.$/)
    expect(lines.at(-1)).toMatch(/^\d+ files?: the stored files equal their rows\.$/)

    const repaired = await verify('--repair')
    expect(repaired.code).toBe(0)
    expect(repaired.stdout).toMatch(/1 board: [23] differences, all repaired\.\n/)
    expect(await verify()).toEqual(equal)
    const unknown = randomUUID()
    const none = await run('verify', '--board', unknown)
    expect([none.code, none.stderr]).toEqual([1, `corkboard: There is no board ${unknown}.\n`])
  },
)

test('[RC6] verify tells rows without bytes and bytes without rows, and --repair removes the latter', async () => {
  const account = await addUser('files@example.com')
  const board = (await apiOf(account).post('/boards', { name: 'Files' })).body.board.id as string
  const upload = async () => {
    const response = await fetch(`${instance.url}/api/v1/uploads?board=${board}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.token}`, 'content-type': 'image/png' },
      body: png as Buffer<ArrayBuffer>,
    })
    return ((await response.json()) as { image_key: string }).image_key
  }
  const [lost, kept] = [await upload(), await upload()]
  const pathOf = (key: string) => join(instance.dataDir, 'files', 'objects', key.slice(0, 2), key)
  const stray = `f${'x'.repeat(24)}.png`
  expect((await run('verify')).stdout).toMatch(/2 files: the stored files equal their rows\.\n$/)
  await mkdir(dirname(pathOf(stray)), { recursive: true })
  await rename(pathOf(lost), pathOf(stray))
  const found = await run('verify')
  expect(found.code).toBe(1)
  expect(found.stdout).toMatch(
    new RegExp(`${lost} +missing +the ${png.length} bytes of this file are missing`),
  )
  expect(found.stdout).toMatch(
    new RegExp(`${stray} +extra +${png.length} bytes are stored, but no file has them`),
  )
  const repaired = await run('verify', '--repair')
  expect(repaired.stdout).toMatch(/2 files: 2 differences, 1 not repaired\.\n$/)
  await admin`delete from images where image_key = ${lost}`
  expect((await run('verify')).stdout).toMatch(/1 file: the stored files equal their rows\.\n$/)
  expect(await readdir(dirname(pathOf(kept)))).toContain(kept)
})

test('[O26] what cannot be done is refused in one line', async () => {
  const owner = await addUser('refused@example.com')
  const role = ['--role', 'viewer']
  const refusals: [string[], string][] = [
    [
      ['user', 'add', '--email', 'REFUSED@example.com', '--name', 'A'],
      'There is already an account with the e-mail REFUSED@example.com.',
    ],
    [
      ['token', 'add', '--email', 'ghost@example.com', '--name', 'A'],
      'There is no account with the e-mail ghost@example.com.',
    ],
    [
      ['workspace', 'add', '--name', 'W', '--owner', 'ghost@example.com'],
      'There is no account with the e-mail ghost@example.com.',
    ],
    [
      ['member', 'set', '--workspace', owner.workspace_id, '--email', 'refused@example.com', ...role],
      'This account owns the workspace. Make another account the owner first.',
    ],
    [
      ['member', 'set', '--workspace', owner.user_id, '--email', 'refused@example.com', ...role],
      `There is no workspace ${owner.user_id}.`,
    ],
    [
      ['board', 'share', '--board', owner.user_id, '--email', 'refused@example.com', ...role],
      `There is no board ${owner.user_id}.`,
    ],
  ]
  for (const [args, message] of refusals) {
    expect(await run(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `corkboard: ${message}\n`,
    })
  }
  const away = { DATABASE_URL: 'postgres://cork:canary-password@127.0.0.1:1/cork' }
  const unreachable = await corkboard(instance.dataDir, ['verify'], away)
  expect(unreachable.code).toBe(1)
  expect(unreachable.stderr).toMatch(/^corkboard: The database at 127\.0\.0\.1:1 can't be reached[^\n]*\n$/)
})

test(
  '[O28] without a running instance a command starts the database for itself, migrated, and stops it',
  { timeout: 60_000 },
  async () => {
    const dataDir = await testDataDir()
    const args = ['user', 'add', '--email', 'first@example.com', '--name', 'First']
    const { code, stdout } = await corkboard(dataDir, args)
    expect(code).toBe(0)
    expect(await findEmbedded(dataDir)).toBe(null)

    const later = await startInstance(dataDir)
    const me = await new ApiClient(later.url, (JSON.parse(stdout) as Account).token).get('/me')
    expect(me.body).toMatchObject({ email: 'first@example.com' })
    await later.stop()
    expect(later.stderr()).toBe('')
  },
)

test('[O28] an external database is taken as it is, or migrated when it is empty', async () => {
  const running = await findEmbedded(instance.dataDir)
  const server = postgres(running!.adminUrl, { max: 1 })
  onTestFinished(() => server.end())
  await server.unsafe('create database external owner corkboard')
  const env = { DATABASE_URL: running!.url.replace(/corkboard$/, 'external') }
  const dataDir = await testDataDir()
  expect((await corkboard(dataDir, ['verify'], env)).stdout).toBe(
    '0 boards: the index equals the documents.\n',
  )

  const external = postgres(running!.adminUrl.replace(/postgres$/, 'external'), { max: 1 })
  onTestFinished(() => external.end())
  await external`update corkboard.schema_files set checksum = 'of another version' where name like 'functions/%'`
  const refused = await corkboard(dataDir, ['verify'], env)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^corkboard: The database has the schema of another version of Corkboard\. [^\n]+\n$/,
  )
})

test('[O28] a command waits for an instance that is starting', { timeout: 60_000 }, async () => {
  const dataDir = await testDataDir()
  const starting = startInstance(dataDir)
  const command = corkboard(dataDir, ['user', 'add', '--email', 'early@example.com', '--name', 'Early'])
  const [later, { code, stderr }] = await Promise.all([starting, command])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await later.stop()
})
