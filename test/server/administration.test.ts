/** The commands by which an operator looks after accounts, workspaces and webhooks, beside a service that runs. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { makeLink } from '../../sql/accounts/sign-in-links.ts'
import { recordReads } from '../../sql/requests/audit.ts'
import { version } from '../../server/version.ts'
import { makeBoard } from '../api/board.ts'
import { upload } from '../api/file.ts'
import { connect, refresh, refusal } from '../api/oauth.ts'
import { person, quickCost, signIn } from '../api/sign-in.ts'
import { runHere } from '../support/command.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import type { Outcome } from '../support/instance.ts'
import { startService, testSecretKey, type TestService } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

let service: TestService
let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'corkboard-administration-'))
  service = await startService({ nodes: 1, config: { dataDir }, passwords: openPasswords(quickCost) })
})
afterEach(leaveAll)
afterAll(async () => {
  await service.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const run = (...args: string[]): Promise<Outcome> =>
  runHere(args, { DATABASE_URL: service.databaseUrl, SECRET_KEY: testSecretKey, DATA_DIR: dataDir })

/** Runs a command that has to succeed, and reads its one line. */
async function answerOf(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(stdout)
}

async function refusalOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^corkboard: [^\n]+\n$/)
  return stderr
}

const isWithin2s = (work: () => Promise<boolean> | boolean, what: string) => until(work, what, 2000)

test('[AD1] lists and shows are tables, or one line of JSON', { timeout: 120_000 }, async () => {
  const [owner, member] = [await service.user({ name: 'Olga', tier: 'free' }), await service.user()]
  const board = await makeBoard(owner)
  await upload(service, owner, board.id)
  await service.member(owner.workspaceId, member, 'viewer')
  await service.share(board.id, await service.user(), 'editor')
  const hook = await makeWebhook(service, owner, 'https://example.com/hook')
  const of = { user_id: owner.userId, email: owner.email }

  const { users } = await answerOf('user', 'list')
  const listed = { ...of, name: 'Olga', tier: 'free', disabled: false }
  expect(users).toContainEqual(expect.objectContaining(listed))
  const shown = await answerOf('user', 'show', '--email', owner.email)
  expect(shown).toMatchObject({ ...listed, tokens: 1, member_of: [] })
  expect(shown.workspaces).toMatchObject([
    { workspace_id: owner.workspaceId, boards: 1, files: 1, webhooks: 1, shared_with: 2 },
  ])
  const { workspaces } = await answerOf('workspace', 'list')
  const workspace = {
    workspace_id: owner.workspaceId,
    owner: owner.email,
    personal: true,
    members: 1,
    boards: 1,
  }
  expect(workspaces).toContainEqual(expect.objectContaining(workspace))
  expect(await answerOf('workspace', 'show', '--workspace', owner.workspaceId)).toMatchObject({
    ...workspace,
    members: [{ user_id: member.userId, email: member.email, role: 'viewer', service_account: false }],
    shared_boards: [{ board_id: board.id, role: 'editor' }],
  })
  const { tokens } = await answerOf('token', 'list', '--email', owner.email)
  expect(tokens).toMatchObject([{ token_id: owner.tokenId, email: owner.email, kind: 'personal' }])
  const { accounts } = await answerOf('storage', 'usage')
  const usage = accounts.find((one: { email: string }) => one.email === owner.email)
  expect(usage).toMatchObject({
    ...of,
    files: { quota_bytes: 1024 ** 3 },
    documents: { quota_bytes: 1024 ** 3 },
  })
  expect(usage.files.bytes).toBeGreaterThan(0)
  const { webhooks } = await answerOf('webhook', 'list', '--workspace', owner.workspaceId)
  expect(webhooks).toMatchObject([{ webhook_id: hook, active: true, failures: 0 }])
  const status = await answerOf('status')
  expect(status).toMatchObject({
    version,
    nodes: [{ alive: true, open_boards: 0 }],
    queues: { outbox: expect.any(Number), deliveries_waiting: expect.any(Number) },
  })
  expect(status.schema.database).toBe(status.schema.code)

  const { stdout: table } = await run('user', 'list')
  const [heading, ...rows] = table.split('\n')
  expect(heading).toMatch(/^user_id +email +name +tier +disabled +created_at +last_seen_at$/)
  expect(rows.find((row) => row.includes(owner.email))).toMatch(/Olga +free +no +\d{4}-/)
  const { stdout: page } = await run('status')
  expect(page).toMatch(new RegExp(`^version +${version}$`, 'm'))
  expect(page).toMatch(/^database\.bytes +\d+\.\d MB$/m)
  expect(page).toMatch(/^nodes:\nnode_id +alive +seen_at +open_boards$/m)
})

test(
  '[AD2] a disabled account is let in nowhere within 2 s, and as before when it is enabled',
  { timeout: 120_000 },
  async () => {
    const somebody = await person(service)
    const { application, tokens } = await connect(service, somebody)
    const { body: made } = await somebody.api.post('/service-accounts', {
      ...{ workspace_id: somebody.workspaceId, name: 'Robot', scopes: ['write'] },
    })
    const board = await makeBoard(somebody)
    const robot = new ApiClient(service.url, made.access_token)
    const connected = new ApiClient(service.url, tokens.access_token)
    const editors = await Promise.all(
      [somebody.token, made.access_token].map((token) =>
        openEditor(service.url, { boardId: board.id, token }),
      ),
    )
    const { code } = await service.database.asSystem((tx) =>
      makeLink(tx, { userId: somebody.userId, hours: 1 }),
    )
    const apis = [somebody.api, robot, connected]
    const statuses = () => Promise.all(apis.map(async (api) => (await api.get('/boards')).status))
    const isSignedIn = async () => (await somebody.browser.open('/settings')).path === '/settings'
    expect([await statuses(), await isSignedIn()]).toEqual([[200, 200, 200], true])

    expect(await answerOf('user', 'disable', '--email', somebody.email)).toEqual({
      ...{ user_id: somebody.userId, email: somebody.email, disabled: true },
    })
    await isWithin2s(async () => (await statuses()).every((status) => status === 401), 'tokens are refused')
    await isWithin2s(() => editors.every(({ closes }) => closes.length > 0), 'sockets are closed')
    expect(await isSignedIn()).toBe(false)
    const stranger = (await person(service)).browser
    expect((await signIn(stranger, somebody)).status).toBe(422)
    expect((await stranger.open(`/login/link?code=${code}`)).status).toBe(410)
    expect(await refusal(refresh(application, tokens.refresh_token!))).toBe('invalid_grant')
    const refused = await openEditor(service.url, {
      boardId: board.id,
      token: somebody.token,
      expectRefusal: true,
    })
    expect(refused.cards.size).toBe(0)

    await answerOf('user', 'enable', '--email', somebody.email)
    await isWithin2s(async () => (await statuses()).every((status) => status === 200), 'tokens are taken')
    expect(await isSignedIn()).toBe(true)
    expect((await signIn(stranger, somebody)).status).toBe(303)
    expect((await refresh(application, tokens.refresh_token!)).access_token).toBeTruthy()
  },
)

test('[AD3, AD4] plans, owners and webhooks are changed', { timeout: 60_000 }, async () => {
  const [owner, heir] = [await service.user({ tier: 'free' }), await service.user()]
  const board = await makeBoard(owner)
  await answerOf('user', 'set-tier', '--email', owner.email, '--tier', 'pro')
  await until(async () => (await owner.api.get('/me')).body.tier === 'pro', 'the plan is another one')

  await answerOf('workspace', 'transfer', '--workspace', owner.workspaceId, '--email', heir.email)
  const { body } = await heir.api.get('/workspaces')
  expect(body.workspaces).toContainEqual(expect.objectContaining({ id: owner.workspaceId }))
  expect((await owner.api.patch(`/boards/${board.id}`, { name: 'As an editor' })).status).toBe(200)
  expect((await makeBoard(owner)).workspace_id).not.toBe(owner.workspaceId)
  expect((await makeBoard(heir)).workspace_id).toBe(heir.workspaceId)

  const id = await makeWebhook(service, heir, 'https://example.com/hook')
  expect(await answerOf('webhook', 'disable', '--id', id)).toMatchObject({ webhook_id: id, active: false })
  expect((await heir.api.get('/webhooks')).body.webhooks).toMatchObject([
    { id, active: false, disabled_reason: 'The operator of the service switched this webhook off.' },
  ])
  expect(await answerOf('webhook', 'enable', '--id', id)).toMatchObject({
    active: true,
    disabled_reason: null,
  })
  expect(await refusalOf('webhook', 'enable', '--id', board.id)).toContain('`webhook list` shows all')
})

test('[AD9] no webhook is switched on beside 20 active ones', { timeout: 60_000 }, async () => {
  const owner = await service.user()
  const ids = []
  for (let n = 0; n < 21; n++) ids.push(await makeWebhook(service, owner, `https://example.com/${n}`))
  const id = ids[0]!
  await service.admin`update webhooks set active = false where id = ${id}`
  expect(await refusalOf('webhook', 'enable', '--id', id)).toContain(
    'The workspace has 20 active webhooks, the most that are allowed. Delete one or switch one off first.',
  )
  expect(await service.admin`select active from webhooks where id = ${id}`).toEqual([{ active: false }])
  expect(await answerOf('webhook', 'disable', '--id', ids[1]!)).toMatchObject({ active: false })
  expect(await answerOf('webhook', 'enable', '--id', id)).toMatchObject({ active: true })
})

test(
  '[AD5] a deleted workspace leaves nothing but files that others have, too',
  { timeout: 60_000 },
  async () => {
    const owner = await service.user()
    const { body: other } = await owner.api.post('/boards', { name: 'Stays' })
    const { workspace_id } = await addWorkspace('Studio', owner.email)
    const { body } = await owner.api.post('/boards', { name: 'Goes', workspace_id })
    const boardId: string = body.board.id
    const [alone, both] = [await upload(service, owner, boardId), await upload(service, owner, boardId)]
    await service.admin`
    insert into images (image_key, workspace_id, board_id, content_type, bytes)
    select image_key, ${owner.workspaceId}, ${other.board.id}, content_type, bytes from images where image_key = ${both.body.image_key}`
    await owner.api.post(`/boards/${boardId}/cards`, { kind: 'note', title: 'Goes' })
    await owner.api.post('/service-accounts', { workspace_id, name: 'Robot', scopes: ['read'] })
    await makeWebhook(service, owner, 'https://example.com/hook', { workspaceId: workspace_id })
    const editor = await openEditor(service.url, { boardId, token: owner.token, reconnect: false })

    const args = ['workspace', 'delete', '--workspace', workspace_id]
    expect(await answerOf(...args, '--dry-run')).toMatchObject({ name: 'Studio', boards: 1, deleted: false })
    expect((await owner.api.get(`/boards/${boardId}`)).status).toBe(200)
    expect(await answerOf(...args)).toMatchObject({ name: 'Studio', deleted: true })
    await isWithin2s(() => editor.closes.some(({ code }) => code === 4403), 'its canvas is closed')
    expect((await owner.api.get(`/boards/${boardId}`)).status).toBe(404)
    const stored = await readdir(join(dataDir, 'files'), { recursive: true })
    const isStored = (key: string) => stored.some((path) => path.endsWith(key))
    expect([isStored(alone.body.image_key), isStored(both.body.image_key)]).toEqual([false, true])
    for (const { table } of await service.admin<{ table: string }[]>`
    select table_name as table from information_schema.columns
    where table_schema = 'corkboard' and column_name = 'workspace_id' and table_name <> 'audit_operations'`)
      await until(async () => {
        const rows =
          await service.admin`select from ${service.admin(table)} where workspace_id = ${workspace_id}`
        return rows.length === 0
      }, `${table} has nothing of the workspace`)
    expect(
      await service.admin`select from users where display_name = 'Robot' and email like '%invalid' and id not in (select id from service_accounts)`,
    ).toHaveLength(0)
    expect(await refusalOf(...args)).toContain(`There is no workspace ${workspace_id}.`)
  },
)

const addWorkspace = async (name: string, owner: string): Promise<{ workspace_id: string }> =>
  JSON.parse((await run('workspace', 'add', '--name', name, '--owner', owner)).stdout)

/** Every row of every table, with what bytes hold as text. */
async function dump(): Promise<string> {
  const tables = await service.admin<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'corkboard'::regnamespace and relkind = 'r'`
  const rows = await Promise.all(
    tables.map(
      ({ name }) =>
        service.admin<{ text: string }[]>`select ${name} || t::text as text from ${service.admin(name)} as t`,
    ),
  )
  return rows
    .flat()
    .map(
      ({ text }) =>
        text +
        text.replace(/\\+x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1')),
    )
    .join('\n')
}

const linesWith = async (text: string) => (await dump()).split('\n').filter((line) => line.includes(text))

test(
  '[AD6, AD7, AD8] an erased account leaves ids, and what it wrote on boards of others',
  { timeout: 120_000 },
  async () => {
    const name = 'Zebedee Quux'
    const ip = '203.0.113.77'
    const somebody = await service.user({ name })
    const { userId, email } = somebody
    const [other, member] = [await service.user(), await service.user()]
    const theirs = await makeBoard(other)
    await service.share(theirs.id, somebody, 'editor')
    await service.member(other.workspaceId, somebody, 'editor')
    const own = await makeBoard(somebody)
    await somebody.api.post('/service-accounts', {
      workspace_id: somebody.workspaceId,
      name: 'Robot',
      scopes: ['read'],
    })
    const [ownFile, theirFile] = [
      await upload(service, somebody, own.id),
      await upload(service, somebody, theirs.id),
    ]
    await somebody.api.post(`/boards/${theirs.id}/cards`, { kind: 'note', title: 'Written for others' })
    await somebody.api.post('/boards', { name: 'Keyed' }, { 'idempotency-key': 'of somebody' })
    await makeWebhook(service, somebody, 'https://example.com/x', { workspaceId: other.workspaceId })
    await somebody.api.patch(`/boards/${theirs.id}`, { scheduled_date: '2027-01-01' })
    await somebody.api.get(`/images/${theirFile.body.image_key}`)
    const signedIn = await person(service)
    await service.admin`insert into passwords select ${userId}, phc from passwords where user_id = ${signedIn.userId}`
    expect((await signIn(signedIn.browser, { email })).status).toBe(303)
    await service.admin`
    insert into notifications (user_id, type, data)
    values (${other.userId}, 'schedule.changed', ${service.admin.json({ actor: { user_id: userId, display_name: name } })})`
    await service.admin`update audit_operations set ip = ${ip} where user_id = ${userId}`
    const editor = await openEditor(service.url, {
      boardId: theirs.id,
      token: somebody.token,
      reconnect: false,
    })
    editor.provider.setAwarenessField('user', { name })
    editor.addCard('by-an-editor')
    await editor.saved()

    await service.member(somebody.workspaceId, member, 'viewer')
    const refused = await refusalOf('user', 'delete', '--email', email)
    expect(refused).toContain(`"${name}" (${somebody.workspaceId})`)
    expect(refused).toContain('workspace transfer')
    await service.member(somebody.workspaceId, member, 'none')
    const before = await service.admin`select * from users order by id`
    const planned = await answerOf('user', 'delete', '--email', email, '--dry-run')
    expect(planned).toMatchObject({
      ...{
        user_id: userId,
        email,
        deleted: false,
        tokens: 1,
        sessions: 1,
        memberships: 1,
        shared_boards: 1,
        webhooks_elsewhere: 1,
      },
      workspaces: [
        { workspace_id: somebody.workspaceId, boards: 2, files: 1, service_accounts: 1, shared_with: 0 },
      ],
    })
    expect(await service.admin`select * from users order by id`).toEqual(before)
    expect((await linesWith(name)).length).toBeGreaterThan(3)
    expect((await linesWith(email)).length).toBe(1)

    expect(await answerOf('user', 'delete', '--email', email)).toEqual({
      ...planned,
      deleted: true,
      audit_entries: expect.any(Number),
    })
    await isWithin2s(() => editor.closes.length > 0, 'its canvas is closed')
    await isWithin2s(async () => (await somebody.api.get('/me')).status === 401, 'its token is refused')
    // A request that began before, and is recorded now.
    await service.database.asSystem((tx) =>
      recordReads(tx, [
        {
          ...{ action: 'image.read', user_id: userId, display_name: name, token_id: somebody.tokenId },
          ...{ service_account_id: null, client_id: null, method: 'GET', path: '/', status: 200 },
          ...{ workspace_id: null, board_id: null, resource_type: 'image', resource_id: 'x' },
          ...{ request_id: 'late', ip },
        },
      ]),
    )
    const late = {
      ...{
        action: 'board.update',
        display_name: name,
        token_id: somebody.tokenId,
        method: 'PATCH',
        path: '/',
        status: 200,
      },
      ...{ request_id: 'late', ip, resources: [{ type: 'board', ids: [theirs.id] }] },
    }
    await service.admin`
      select record_operations(
        json_build_array(json_build_object('operation', ${JSON.stringify(late)}::text::json, 'account', ${userId}::uuid)),
        stamp()
      )`
    for (const text of [name, email, ip]) expect(await linesWith(text)).toEqual([])
    expect(
      (
        await service.admin`select from audit_operations where user_id = ${userId} and display_name is null and ip = ''`
      ).length,
    ).toBeGreaterThanOrEqual(planned.audit_entries)
    const { body } = await other.api.get(`/boards/${theirs.id}/cards`)
    expect(body.cards.map(({ title }: { title: string }) => title)).toContain('Written for others')
    expect(body.cards.map(({ id }: { id: string }) => id)).toContain('by-an-editor')
    expect((await other.api.get(`/images/${theirFile.body.image_key}`)).status).toBe(200)
    const stored = await readdir(join(dataDir, 'files'), { recursive: true })
    expect(stored.some((path) => path.endsWith(ownFile.body.image_key))).toBe(false)
    const { body: told } = await other.api.get('/notifications')
    expect(told.notifications.map((one: any) => one.data.actor?.display_name)).toContain('deleted user')
    const { body: audit } = await other.api.get('/audit')
    const entry = audit.entries.find((one: any) => one.actor.user_id === userId)
    expect(entry).toMatchObject({ actor: { user_id: userId, display_name: null }, ip: '' })
    expect(await refusalOf('user', 'delete', '--email', email)).toContain(
      'There is no account with the e-mail',
    )
  },
)
