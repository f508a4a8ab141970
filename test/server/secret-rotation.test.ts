/** The secret key is replaced while nodes with the old and the new settings serve. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openEncryption } from '../../platform/secrets/encryption.ts'
import { openPartUrls } from '../../platform/storage/part-urls.ts'
import { rotateSecrets } from '../../workers/upkeep/rotate-secrets.ts'
import { makeBoard } from '../api/board.ts'
import { connect, type Application } from '../api/oauth.ts'
import { person, quickCost } from '../api/sign-in.ts'
import { openPasswords } from '../../platform/secrets/passwords.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { emptyDatabase } from '../support/first-release.ts'
import { freePort } from '../support/free-port.ts'
import { ApiClient } from '../support/http.ts'
import { corkboard } from '../support/instance.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, type TestService, type TestUser } from '../support/service.ts'

const older = 'the older key of these tests: 32 characters and more'
const newer = 'the newer key of these tests: 32 characters and more'
const otherKey = 'SECRET_KEY of these tests that somebody mistyped'

let testDatabase: TestDatabase
let receiver: Receiver
let dataDir: string
let port: number
const running = new Set<TestService>()

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  receiver = await openReceiver()
  dataDir = await mkdtemp(join(tmpdir(), 'corkboard-rotation-'))
  port = await freePort()
})
afterEach(async () => {
  for (const service of running) await stop(service)
})
afterAll(async () => {
  await receiver.close()
  await testDatabase.drop()
  await rm(dataDir, { recursive: true, force: true })
})

async function start(
  secretKey: string,
  previousSecretKey = '',
  atPort = 0,
  database = testDatabase,
): Promise<TestService> {
  const config = {
    ...{ secretKey, previousSecretKey, port: atPort, publicUrl: `http://127.0.0.1:${port}`, dataDir },
    egressAllow: ['127.0.0.1/32'],
  }
  const service = await startService({
    ...{ testDatabase: database, config, nodes: 1, queueTickMs: 20, passwords: openPasswords(quickCost) },
  })
  running.add(service)
  return service
}

async function stop(service: TestService): Promise<void> {
  running.delete(service)
  await service.stop()
}

const rotate = (...more: string[]) =>
  corkboard(dataDir, ['secret', 'rotate', ...more], {
    ...{ DATABASE_URL: testDatabase.url, SECRET_KEY: newer, SECRET_KEY_PREVIOUS: older },
  })

/** Clients of the API on all nodes that serve, and the secrets of the webhooks that they made. */
class Load {
  nodes: TestService[]
  requests = 0
  readonly faults: string[] = []
  readonly secrets = new Map<string, string[]>()
  readonly #user: TestUser
  readonly #boardId: string
  #stopped = false
  #busy = new Map<TestService, number>()
  readonly #clients: Promise<void>[]

  constructor(nodes: TestService[], user: TestUser, boardId: string) {
    this.nodes = nodes
    this.#user = user
    this.#boardId = boardId
    this.#clients = [0, 1, 2].map((n) => this.#run(n))
  }

  /** These nodes serve from now on. Resolves when no other has a request in flight. */
  async switchTo(...nodes: TestService[]): Promise<void> {
    const left = this.nodes.filter((node) => !nodes.includes(node))
    this.nodes = nodes
    await until(() => left.every((node) => !this.#busy.get(node)), 'the other nodes are idle')
    await this.more(30)
  }

  async more(requests: number): Promise<void> {
    const goal = this.requests + requests
    await until(() => this.requests >= goal, 'the clients go on', 60_000)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#clients)
  }

  async #run(client: number): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      if (n % 8 === client) await this.#webhook(`${receiver.url}/${client}-${n}`)
      const headers = { 'idempotency-key': randomUUID() }
      const card = { kind: 'note', title: `${client} ${n}`, x: 0, y: 0 }
      const path = `/boards/${this.#boardId}/cards`
      const made = await this.#send('POST', path, card, headers)
      const again = await this.#send('POST', path, card, headers)
      if (again.text !== made.text) this.faults.push(`${again.text} instead of ${made.text}`)
    }
  }

  async #webhook(url: string): Promise<void> {
    const body = { url, workspace_id: this.#user.workspaceId, events: ['card.created'] }
    const headers = { 'idempotency-key': randomUUID() }
    const made = await this.#send('POST', '/webhooks', body, headers)
    const again = await this.#send('POST', '/webhooks', body, headers)
    if (again.body.secret !== made.body.secret) this.faults.push('another secret')
    const path = new URL(url).pathname
    this.secrets.set(path, [made.body.secret])
    const { id } = made.body.webhook
    const rotated = await this.#send('POST', `/webhooks/${id}/rotate-secret`, undefined, {})
    this.secrets.get(path)!.push(rotated.body.secret)
    const earlier = this.#earlier.splice(0, 1)
    if (earlier[0]) await this.#send('PATCH', `/webhooks/${earlier[0]}`, { active: false }, {})
    this.#earlier.push(id)
  }
  #earlier: string[] = []

  async #send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const node = this.nodes[this.requests++ % this.nodes.length]!
    this.#busy.set(node, (this.#busy.get(node) ?? 0) + 1)
    try {
      const answer = await new ApiClient(node.url, this.#user.token).send<any>(method, path, body, headers)
      if (answer.status >= 300) this.faults.push(`${method} ${path}: ${answer.status} ${answer.text}`)
      return answer
    } finally {
      this.#busy.set(node, this.#busy.get(node)! - 1)
    }
  }
}

/** A refresh on any node, which stays at the addresses of the first one. */
async function refreshOn(node: TestService, { client }: Application, token: string): Promise<string> {
  const answer = await fetch(`${node.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'refresh_token', refresh_token: token, client_id: client.client_id },
    }),
  })
  const body = (await answer.json()) as { refresh_token?: string }
  expect([answer.status, body]).toEqual([200, expect.objectContaining({ refresh_token: expect.any(String) })])
  return body.refresh_token!
}

const isSigned = ({ path, raw, headers }: Receiver['received'][number], load: Load) =>
  load.secrets.get(path)?.some((secret) => {
    try {
      new Webhook(secret).verify(raw, headers as Record<string, string>)
      return true
    } catch {
      return false
    }
  })

test(
  '[SK1, SK2, SK3] the key is replaced under load: no request and no delivery fails',
  { timeout: 180_000 },
  async () => {
    const first = await start(older, '', port)
    const somebody = await person(first)
    const { application, tokens } = await connect(first, somebody)
    const load = new Load([first], somebody, (await makeBoard(somebody)).id)
    await load.more(30)

    const second = await start(older, newer)
    await load.switchTo(first, second)
    let token = await refreshOn(second, application, tokens.refresh_token!)
    await load.switchTo(second)
    await stop(first)
    const third = await start(newer, older)
    await load.switchTo(second, third)
    token = await refreshOn(third, application, token)
    token = await refreshOn(second, application, token)
    await load.switchTo(third)
    await stop(second)

    const results = await Promise.all([rotate('--json'), rotate('--json')])
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: '' })
    const counts = results.map(
      ({ stdout }) => JSON.parse(stdout) as { rotated: Record<string, number>; unreadable: number },
    )
    for (const name of [
      'webhooks.secret',
      'webhooks.previous_secret',
      'oauth_clients.metadata',
      'oauth_grants.payload',
      'oauth_artifacts.payload',
      'idempotency_keys.response',
      'idempotency_keys.result',
    ])
      expect(counts[0]!.rotated[name]! + counts[1]!.rotated[name]!, name).toBeGreaterThan(0)
    expect(counts.map(({ unreadable }) => unreadable)).toEqual([0, 0])

    const fourth = await start(newer)
    await load.switchTo(third, fourth)
    await load.switchTo(fourth)
    await stop(third)
    await refreshOn(fourth, application, token)
    await load.more(30)
    await load.stop()
    expect(load.faults).toEqual([])
    await until(
      async () => {
        const [row] = await testDatabase.admin`
      select count(*)::integer as count from webhook_deliveries where status in ('waiting', 'sending')`
        return row!['count'] === 0
      },
      'all is delivered',
      30_000,
    )
    expect([
      ...(await testDatabase.admin`select status, error from webhook_attempts where status <> 'given_up'`),
    ]).toEqual([])
    expect(receiver.received.length).toBeGreaterThan(50)
    expect(receiver.received.filter((one) => !isSigned(one, load))).toEqual([])
    await stop(fourth)

    await expect(start(older)).rejects.toThrow(
      'The secrets of this database were encrypted with another SECRET_KEY.',
    )
  },
)

test(
  '[SK4, SK5] a rotation that was interrupted goes on; what no key decrypts stays as it is',
  { timeout: 60_000 },
  async () => {
    const { admin } = testDatabase
    await admin`truncate secret_canary, webhooks, idempotency_keys, oauth_clients, oauth_grants, oauth_artifacts cascade`
    const service = await start(older)
    const user = await service.user()
    const sealWith = (key: string, id: string) => openEncryption([key], 'webhook secrets').seal('whsec_x', id)
    const ids = Array.from({ length: 500 }, () => randomUUID())
    const insert = (id: string, secret: Buffer) => admin`
    insert into webhooks (id, workspace_id, url, events, active, secret)
    values (${id}, ${user.workspaceId}, 'https://example.com', array['*'], false, ${secret})`
    await Promise.all(ids.map((id) => insert(id, sealWith(older, id))))
    const strange = randomUUID()
    const strangeSecret = sealWith(otherKey, strange)
    await insert(strange, strangeSecret)

    const interrupted = rotateSecrets(service.database, [newer, older], () => {
      throw new Error('interrupted')
    })
    await expect(interrupted).rejects.toThrow('interrupted')
    await expect(start(newer)).rejects.toThrow('SECRET_KEY_PREVIOUS')
    const { code, stdout } = await rotate()
    expect(code).toBe(0)
    expect(stdout).toMatch(/^rotated\.webhooks\.secret +30\d$/m)
    expect(stdout).toMatch(/^unreadable +1$/m)

    const encryption = openEncryption([newer], 'webhook secrets')
    const rows = await admin<{ id: string; secret: Buffer }[]>`select id, secret from webhooks`
    for (const { id, secret } of rows)
      if (id === strange) expect(secret.equals(strangeSecret)).toBe(true)
      else expect(encryption.open(secret, id)).toBe('whsec_x')
    await stop(await start(newer))
    expect(JSON.parse((await rotate('--json')).stdout)).toMatchObject({
      rotated: { 'webhooks.secret': 0 },
      unreadable: 1,
    })
  },
)

test(
  '[BR17] an archive from before a rotation is restored with both keys, and rotated',
  { timeout: 120_000 },
  async () => {
    const { admin } = testDatabase
    await admin`truncate secret_canary, webhooks, idempotency_keys, oauth_clients, oauth_grants, oauth_artifacts cascade`
    const service = await start(older)
    const user = await service.user()
    const body = { url: receiver.url, workspace_id: user.workspaceId, events: ['board.created'] }
    const made = await user.api.post('/webhooks', body)
    await stop(service)
    const path = join(dataDir, 'before.tar.zst')
    const backup = await corkboard(dataDir, ['backup', '--to', path], {
      ...{ DATABASE_URL: testDatabase.url, SECRET_KEY: older },
    })
    expect(backup).toMatchObject({ code: 0, stderr: '' })

    const target = await emptyDatabase()
    const restore = (keys: Record<string, string>) =>
      corkboard(dataDir, ['restore', '--resume', '--from', path], { DATABASE_URL: target.url, ...keys })
    const refused = await restore({ SECRET_KEY: newer, SECRET_KEY_PREVIOUS: otherKey })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^corkboard: .* set it as SECRET_KEY_PREVIOUS\.\n$/)
    const both = { SECRET_KEY: newer, SECRET_KEY_PREVIOUS: older }
    expect(await restore(both)).toMatchObject({ code: 0, stderr: '' })

    const database = { ...target, drop: async () => undefined }
    const restored = await start(newer, older, 0, database)
    receiver.received.length = 0
    await new ApiClient(restored.url, user.token).post('/boards', { name: 'Restored' })
    await until(() => receiver.received.length === 1, 'the delivery')
    new Webhook(made.body.secret).verify(receiver.received[0]!.raw, receiver.received[0]!.headers as never)
    await stop(restored)
    await expect(start(newer, '', 0, database)).rejects.toThrow('SECRET_KEY_PREVIOUS')
    const rotated = await corkboard(dataDir, ['secret', 'rotate', '--json'], {
      DATABASE_URL: target.url,
      ...both,
    })
    expect(JSON.parse(rotated.stdout)).toMatchObject({ rotated: { 'webhooks.secret': 1 }, unreadable: 0 })
    await stop(await start(newer, '', 0, database))
  },
)

test('[SK1] the URLs of upload parts that either key has signed are taken', () => {
  const grant = { key: 'k', uploadId: 'u', partNumber: 1, bytes: 1, expires: 1 }
  const queryOf = (keys: [string, ...string[]]) =>
    Object.fromEntries(new URLSearchParams(openPartUrls(keys).sign(grant).split('?')[1]))
  const both = openPartUrls([newer, older])
  expect(both.verify(queryOf([older]))).toEqual(grant)
  expect(both.verify(queryOf([newer, older]))).toEqual(grant)
  expect(openPartUrls([newer]).verify(queryOf([newer, older]))).toEqual(grant)
  expect(openPartUrls([newer]).verify(queryOf([older]))).toBe(null)
  expect(both.verify(queryOf([otherKey]))).toBe(null)
})
