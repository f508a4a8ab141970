/** Two versions on one database: this tree, and a copy of it with one more migration and one changed function. */
import { createHash } from 'node:crypto'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate, type SchemaFile } from '../../sql/migrate.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { launch, makeDataDir, repository, startInstance } from '../support/instance.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, testSecretKey, type TestService, type TestUser } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const parts = ['api', 'collab', 'core', 'docs', 'patches', 'platform', 'server', 'sql', 'workers']
const files = ['package.json', 'tsconfig.json', 'CHANGELOG.md', 'README.md']
const changedFunction = 'functions/deliveries.sql'
const mark = 'of the next version'

let testDatabase: TestDatabase
let dataDir: string
let receiver: Receiver
/** Makes accounts, and has no part in anything else. */
let accounts: TestService
let newer: string
/** Number of this version's newest migration, and what follows it. */
let last: number
const cleanUps: (() => Promise<void>)[] = []
const numbered = (number: number, what: string) => `migrations/${String(number).padStart(4, '0')}-${what}.sql`

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  receiver = await openReceiver()
  dataDir = await makeDataDir((work) => void cleanUps.push(work))
  accounts = await startService({ testDatabase, workers: false })
  last = Math.max(...(await readdir(join(repository, 'sql/migrations'))).map((name) => parseInt(name)))
  newer = await copyOfNextVersion()
})
afterAll(async () => {
  leaveAll()
  await receiver?.close()
  await accounts?.stop()
  for (const cleanUp of cleanUps) await cleanUp()
  await testDatabase?.drop()
})

async function copyOfNextVersion(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corkboard-next-'))
  cleanUps.push(() => rm(folder, { recursive: true, force: true }))
  for (const name of [...parts, ...files])
    await cp(join(repository, name), join(folder, name), { recursive: true })
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  const works = String(last).padStart(4, '0')
  await writeFile(
    join(folder, 'sql', numbered(last + 1, 'next')),
    `-- A column that this version lacks.\n-- Works with: ${works}\nalter table boards add column next_version text;\n`,
  )
  const changed = join(folder, 'sql', changedFunction)
  const text = await readFile(changed, 'utf8')
  await writeFile(changed, text.replaceAll('\nbegin\n', `\nbegin -- ${mark}\n`))
  return folder
}

const environment = () => ({
  DATABASE_URL: testDatabase.url,
  SECRET_KEY: testSecretKey,
  EGRESS_ALLOW: '127.0.0.1/32',
})
const startOld = () => startInstance(dataDir, environment())
const startNew = () => startInstance(dataDir, environment(), newer)

const readiness = async ({ url }: { url: string }) => {
  const answer = await fetch(`${url}/readyz`)
  return { status: answer.status, body: (await answer.json()) as { migrations: string } }
}
const isReady = { status: 200, body: { migrations: 'ok' } }

/** Whether the database has the function of the next version. */
const hasNewFunction = async () => {
  const [row] = await testDatabase.admin<{ text: string }[]>`
    select prosrc as text from pg_proc where proname = 'give_back_deliveries'`
  return row!.text.includes(mark)
}

/** Reads, writes, edits and deliveries by these nodes together. */
async function expectAllServe(user: TestUser, urls: string[]): Promise<void> {
  const clients = urls.map((url) => new ApiClient(url, user.token))
  const { body } = await clients[0]!.post('/boards', { name: 'Both' })
  const boardId: string = body.board.id
  await makeWebhook(accounts, user, receiver.url, { events: ['card.created'] })
  receiver.received.length = 0
  const editors = await Promise.all(urls.map((url) => openEditor(url, { boardId, token: user.token })))
  for (const [n, api] of clients.entries()) {
    const made = await api.post(`/boards/${boardId}/cards`, { kind: 'note', title: `api ${n}`, x: 0, y: 0 })
    expect(made.status).toBe(201)
    editors[n]!.addCard(`edit-${n}`)
    await editors[n]!.saved()
  }
  const all = 2 * urls.length
  for (const editor of editors) await until(() => editor.cards.size === all, 'every canvas has every card')
  for (const api of clients) {
    expect((await api.get(`/boards/${boardId}/cards`)).body.cards).toHaveLength(all)
    await until(
      async () => (await api.get(`/boards/${boardId}/cards?source=index`)).body.cards.length === all,
      'the index has every card',
    )
  }
  await until(() => receiver.received.length >= urls.length, 'the events of the writes are delivered')
  const ids = receiver.received.map(({ deliveryId }) => deliveryId)
  expect(new Set(ids).size).toBe(ids.length)
  leaveAll()
}

test(
  '[CG8, CG9] two versions side by side serve all; the old one starts again and leaves the newer functions',
  { timeout: 120_000 },
  async () => {
    const user = await accounts.user()
    const old = await startOld()
    expect(await hasNewFunction()).toBe(false)
    const next = await startNew()
    expect(await hasNewFunction()).toBe(true)
    for (const node of [old, next]) expect(await readiness(node)).toMatchObject(isReady)
    await expectAllServe(user, [old.url, next.url])

    expect((await old.stop()).code).toBe(0)
    const again = await startOld()
    expect(again.stdout()).toContain(`with which this one works: it has ${numbered(last + 1, 'next')}`)
    expect(await hasNewFunction()).toBe(true)
    for (const node of [again, next]) expect(await readiness(node)).toMatchObject(isReady)
    await expectAllServe(user, [next.url, again.url])

    // A migration that doesn't say with which code it works stops older code.
    const breaking = {
      name: numbered(last + 2, 'breaking'),
      text: 'alter table boards add column breaking text',
    }
    await migrate(testDatabase.url, [...(await filesOf(newer)), withChecksum(breaking)])
    for (const node of [again, next])
      expect(await readiness(node)).toMatchObject({ status: 503, body: { migrations: 'too new' } })
    expect((await again.stop()).code).toBe(0)
    expect((await next.stop()).code).toBe(0)
    const refused = await launch(dataDir, { PORT: '0', ...environment() }).ended
    expect(refused.code).toBe(1)
    expect(refused.stderr).toBe(
      `corkboard: The database is newer than this version of Corkboard: it has ${numbered(last + 1, 'next')}, ${breaking.name}. Start the newer version.\n`,
    )
    expect(await hasNewFunction()).toBe(true)
  },
)

const withChecksum = (file: { name: string; text: string }): SchemaFile => ({
  ...file,
  checksum: createHash('sha256').update(file.text).digest('hex'),
})

/** The migrations of a version as the database has them. */
async function filesOf(folder: string): Promise<SchemaFile[]> {
  const applied = await testDatabase.admin<{ name: string; checksum: string }[]>`
    select name, checksum from schema_files where name like 'migrations/%' order by name`
  return Promise.all(
    applied.map(async ({ name, checksum }) => ({
      name,
      checksum,
      text: await readFile(join(folder, 'sql', name), 'utf8'),
    })),
  )
}
