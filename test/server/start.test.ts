import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import { cloneDatabase } from '../support/database.ts'
import { leaveAll, openEditor, until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { corkboard, launch, repository, run, startInstance, testDataDir } from '../support/instance.ts'
import { startService, testSecretKey } from '../support/service.ts'
import { swallowingProxy } from '../support/swallowing-proxy.ts'
import { makeWebhook } from '../support/webhook.ts'

const runsFor = { timeout: 90_000 }

function demoOf(stderr: string): { curl: string; token: string; boardId: string } {
  const [curl = ''] = /^ *curl [^]*?'$/m.exec(stderr) ?? []
  const [, token = ''] = /Bearer ([^']+)'/.exec(curl) ?? []
  const [, boardId = ''] = /boards\/([^/]+)\//.exec(curl) ?? []
  return { curl, token, boardId }
}

test(
  '[O2, O9] a first start prints a curl that works; after kill -9 the next has the card',
  runsFor,
  async () => {
    const dataDir = await testDataDir()
    const first = await startInstance(dataDir, { DEMO: 'on' })
    await until(() => first.stderr().includes('first card'), 'the demo is printed')
    const demo = demoOf(first.stderr())
    expect(first.stdout()).not.toContain(demo.token)

    const { stdout } = await run('bash', ['-c', demo.curl])
    const answer = JSON.parse(stdout) as { board_id: string; live: boolean; cards: { title: string }[] }
    expect(answer).toMatchObject({ board_id: demo.boardId, live: true, cards: [{ title: 'Hello' }] })
    first.signal('SIGKILL')
    await first.ended
    expect(await findEmbedded(dataDir)).not.toBe(null)

    const second = await startInstance(dataDir)
    const api = new ApiClient(second.url, demo.token)
    const { body } = await api.get(`/boards/${demo.boardId}/cards`)
    expect(body.cards).toContainEqual(expect.objectContaining({ title: 'Hello', body: 'My first card' }))
    const outcome = await second.stop()
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toBe('')
    expect(await findEmbedded(dataDir)).toBe(null)
  },
)

test(
  '[O3] a start for others to reach makes no account, and says how to make the first',
  runsFor,
  async () => {
    const instance = await startInstance(await testDataDir(), { HOST: '0.0.0.0', DEMO: 'on' })
    await until(() => instance.stderr().includes('user add'), 'the first account is explained')
    expect(instance.stderr()).not.toContain('cork_')
    const running = await findEmbedded(instance.dataDir)
    const sql = postgres(running!.adminUrl.replace(/postgres$/, 'corkboard'), { max: 1 })
    expect(await sql`select id from corkboard.users`).toEqual([])
    await sql.end()
    expect((await instance.stop()).code).toBe(0)
  },
)

test('[O4, O5] a bad value and a missing SECRET_KEY each stop the start with one line', async () => {
  const dataDir = await testDataDir()
  const bad = await launch(dataDir, { PORT: 'many' }).ended
  expect(bad).toEqual({
    code: 1,
    stdout: '',
    stderr: 'corkboard: PORT must be a whole number from 0 to 65535. It is "many".\n',
  })
  const keyless = await launch(dataDir, { DATABASE_URL: 'postgres://cork@127.0.0.1:1/cork' }).ended
  expect(keyless).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'corkboard: SECRET_KEY must be set when DATABASE_URL is set. Use at least 32 characters, the same at every start.\n',
  })
})

test(
  '[O5, WB14] the embedded start keeps its key under DATA_DIR; with DEMO=off it makes no account',
  runsFor,
  async () => {
    const instance = await startInstance(await testDataDir())
    await until(() => instance.stderr().includes('There is no account yet'), 'the first account is explained')
    expect(instance.stderr()).not.toContain('cork_')
    const file = join(instance.dataDir, 'secret-key')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const key = await readFile(file, 'utf8')
    await instance.stop()
    const again = await startInstance(instance.dataDir)
    expect(await readFile(file, 'utf8')).toBe(key)
    await again.stop()
  },
)

test('[O6] a port in use is said in one line, and no database server is left', runsFor, async () => {
  const dataDir = await testDataDir()
  const taken = net.createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await until(() => taken.listening, 'the port is taken')
  const { port } = taken.address() as AddressInfo
  const { code, stderr } = await launch(dataDir, { PORT: String(port), LOG_LEVEL: 'silent' }).ended
  expect(stderr).toBe(
    `corkboard: Another process already listens on 127.0.0.1:${port}. Stop it, or set PORT or METRICS_PORT to another port.\n`,
  )
  expect(code).toBe(1)
  expect(await findEmbedded(dataDir)).toBe(null)
})

test('[O7] a database out of reach, and a data folder that is none, are said in one line', async () => {
  const dataDir = await testDataDir()
  const closed = net.createServer().listen(0, '127.0.0.1')
  await until(() => closed.listening, 'a port is known')
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const DATABASE_URL = `postgres://cork:canary-password@127.0.0.1:${port}/cork`
  const unreached = `The database at 127.0.0.1:${port} can't be reached (ECONNREFUSED). Check DATABASE_URL, and that the database runs.`
  const env = { DATABASE_URL, SECRET_KEY: 'k'.repeat(32) }
  const away = await launch(dataDir, { ...env, DATABASE_WAIT_SECONDS: '1' }).ended
  expect(away.stderr).toBe(`corkboard: ${unreached}\n`)
  expect(away.code).toBe(1)
  const said = away.stdout.split('\n').filter((line) => line.includes('not started yet'))
  expect(said.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([unreached])

  await writeFile(join(dataDir, 'file'), '')
  const none = await launch(join(dataDir, 'file')).ended
  expect(none.stderr).toMatch(/^corkboard: DATA_DIR can't be used: [^\n]+\n$/)
  expect(none.code).toBe(1)
})

test('[O7] a start waits for its database, and a signal ends the wait', runsFor, async () => {
  const cloned = await cloneDatabase()
  onTestFinished(() => cloned.drop())
  const serverPort = Number(new URL(cloned.url).port)
  const gone = await swallowingProxy(serverPort)
  await gone.stop() // nobody listens on its port any more
  const env = { DATABASE_URL: gone.through(cloned.url), SECRET_KEY: testSecretKey }

  const ended = launch(await testDataDir(), env)
  await until(() => ended.stdout().includes('not started yet'), 'it says that it waits')
  ended.signal('SIGTERM')
  expect((await ended.ended).code).toBe(0)

  const starting = startInstance(await testDataDir(), env)
  await delay(2000)
  const back = await swallowingProxy(serverPort, gone.port)
  onTestFinished(() => back.stop())
  const instance = await starting
  expect((await fetch(`${instance.url}/readyz`)).status).toBe(200)
  await instance.stop()
})

test('[O8] what npm left out without install scripts is said in one line', async () => {
  const folder = await testDataDir()
  const preflight = join(folder, 'server', 'preflight.js')
  const start = (...flags: string[]) =>
    run(process.execPath, [...flags, '--import', `file://${preflight}`, '-e', 'process.stdout.write("runs")'])
  await mkdir(join(folder, 'server'))
  await writeFile(preflight, await readFile(join(repository, 'server', 'preflight.js')))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  expect((await start()).stderr).toBe('corkboard: The packages are not installed. Run `npm ci`.\n')

  await mkdir(join(folder, 'node_modules', 'fastify'), { recursive: true })
  expect((await start()).stdout).toBe('runs')
  const old = await start('--no-strip-types')
  expect(old.code).toBe(1)
  expect(old.stderr).toMatch(/^corkboard: Node v[\d.]+ can't run Corkboard.*--ignore-scripts=false`\.\n$/)

  const patch = [
    'diff --git a/node_modules/pg/a.js b/node_modules/pg/a.js',
    '--- a/node_modules/pg/a.js',
    '+++ b/node_modules/pg/a.js',
    '@@ -1,2 +1,2 @@',
    ' }',
    '-  socket.write(x)',
    '+  socket && socket.write(x)',
    '',
  ]
  await mkdir(join(folder, 'patches'))
  await writeFile(join(folder, 'patches', 'pg+1.0.0.patch'), patch.join('\n'))
  await mkdir(join(folder, 'node_modules', 'pg'))
  await writeFile(join(folder, 'node_modules', 'pg', 'a.js'), '}\n  socket.write(x)\n')
  const unpatched = await start()
  expect(unpatched.code).toBe(1)
  expect(unpatched.stderr).toMatch(
    /^corkboard: The patch of .*pg\/a\.js is missing.*--ignore-scripts=false`\.\n$/,
  )
  await writeFile(join(folder, 'node_modules', 'pg', 'a.js'), '}\n  socket && socket.write(x)\n')
  expect((await start()).stdout).toBe('runs')
})

test(
  '[O10] SIGTERM answers what runs, closes sockets with 1012, indexes, and ends the database server',
  runsFor,
  async () => {
    const instance = await startInstance(await testDataDir(), { DEMO: 'on' })
    await until(() => instance.stderr().includes('first card'), 'the demo is printed')
    const { token, boardId } = demoOf(instance.stderr())
    const api = new ApiClient(instance.url, token)
    const other = (await api.post('/boards', { name: 'Other' })).body.board.id as string
    const running = await findEmbedded(instance.dataDir)
    const admin = postgres(running!.adminUrl.replace(/postgres$/, 'corkboard'), { max: 1 })
    const editor = await openEditor(instance.url, { boardId, token, reconnect: false })
    onTestFinished(leaveAll)

    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let locked = false
    const lock = admin.begin(async (tx) => {
      await tx`select from corkboard.board_documents where board_id = ${other} for update`
      locked = true
      await released
    })
    await until(() => locked, 'the board is locked')
    let answered = false
    const write = api.post(`/boards/${other}/cards`, { kind: 'note', title: 'Under way', x: 0, y: 0 })
    void write.then(() => (answered = true))
    editor.addCard('dropped', { title: 'Just before the end', x: 5 })
    await editor.saved()

    instance.signal('SIGTERM')
    await until(() => editor.closes.length > 0, 'the socket is closed')
    expect(editor.closes[0]).toMatchObject({ code: 1012 })
    await expect(fetch(`${instance.url}/healthz`)).rejects.toThrow('fetch failed')
    expect(answered).toBe(false)
    release()
    const releasedAt = performance.now()
    expect((await write).status).toBe(201)
    await lock
    await admin.end()
    expect((await instance.ended).code).toBe(0)
    expect(performance.now() - releasedAt).toBeLessThan(5000) // it waits for no connection that is idle by then
    expect(await findEmbedded(instance.dataDir)).toBe(null)

    // Nothing runs that could index it now.
    const verified = await corkboard(instance.dataDir, ['verify'])
    const found = '2 boards: the index equals the documents.\n1 file: the stored files equal their rows.\n'
    expect(verified).toEqual({ code: 0, stdout: found, stderr: '' })
  },
)

test('[O11] SIGTERM during the start ends it in order', runsFor, async () => {
  const dataDir = await testDataDir()
  const starting = launch(dataDir, { PORT: '0' })
  await until(async () => (await findEmbedded(dataDir)) !== null, 'the database server is up', 20_000)
  const { code } = await starting.stop()
  expect(code).toBe(0)
  expect(await findEmbedded(dataDir)).toBe(null)
})

test('[O50] another SECRET_KEY stops the start with one line', runsFor, async () => {
  const dataDir = await testDataDir()
  const key = 'k'.repeat(32)
  const refusal = {
    code: 1,
    stderr:
      'corkboard: The secrets of this database were encrypted with another SECRET_KEY. Set the earlier key again, or restore DATA_DIR/secret-key. During a rotation set it as SECRET_KEY_PREVIOUS.\n',
  }
  const first = await startInstance(dataDir, { SECRET_KEY: key })
  await first.stop()
  const other = { SECRET_KEY: 'o'.repeat(32), PORT: '0', LOG_LEVEL: 'silent' }
  expect(await launch(dataDir, other).ended).toMatchObject(refusal)
  expect(await findEmbedded(dataDir)).toBe(null)

  const again = await startInstance(dataDir, { SECRET_KEY: key })
  expect((await again.stop()).code).toBe(0)
})

test('[O50] so it does on a database from before this check', async () => {
  const testDatabase = await cloneDatabase()
  onTestFinished(() => testDatabase.drop())
  const before = await startService({ testDatabase })
  await makeWebhook(before, await before.user(), 'https://example.com/hook')
  await before.stop()
  await testDatabase.admin`delete from secret_canary`
  const other = { secretKey: 'o'.repeat(32) }
  await expect(startService({ testDatabase, config: other })).rejects.toThrow(
    'The secrets of this database were encrypted with another SECRET_KEY',
  )
  expect(await testDatabase.admin`select from secret_canary`).toHaveLength(0)
  const after = await startService({ testDatabase })
  await after.stop()
  expect(await testDatabase.admin`select from secret_canary`).toHaveLength(1)
})

test('[VR2] an installation on the host’s Node prints no warning', async () => {
  const folder = await testDataDir()
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'test/client/package.json']) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await copyFile(join(repository, name), join(folder, name))
  }
  // The test runs on the Node of this project. An installation runs on the host's.
  const PATH = process.env['PATH']!.split(':')
    .filter((path) => !path.includes('node_modules'))
    .join(':')
  const env = { PATH, HOME: process.env['HOME'] }
  const installed = await run('npm', ['ci', '--dry-run', '--ignore-scripts'], { cwd: folder, env })
  expect(installed).toMatchObject({ code: 0, stderr: '' })
})
