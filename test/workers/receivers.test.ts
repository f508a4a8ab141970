/** Deliveries by the whole path, at real receivers. */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openEgress } from '../../platform/egress/egress.ts'
import { openLog } from '../../server/log.ts'
import { makeBoard, succeeded, type Shown } from '../api/board.ts'
import { createWebhook } from '../api/webhook.ts'
import { until } from '../support/editor.ts'
import { freePort } from '../support/free-port.ts'
import { repository } from '../support/instance.ts'
import { listen, onRequest } from '../support/listener.ts'
import { startService, type TestUser } from '../support/service.ts'

let movedMs = 0
const clock = { now: () => Date.now() + movedMs }
const names = new Map<string, () => string[]>()
const log = new PassThrough()
let logged = ''
log.on('data', (chunk: Buffer) => (logged += chunk.toString('utf8')))

const service = await startService({
  clock,
  log: openLog('debug', [], log),
  // What a test names resolves, and changes, as the test says.
  egress: openEgress({
    allow: ['127.0.0.1'],
    resolve: async (name) => {
      const addresses = names.get(name)?.()
      if (addresses) return addresses
      throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
    },
  }),
})
afterAll(() => service.stop())

interface Arrived {
  headers: IncomingHttpHeaders
  body: Buffer
}

async function receive(
  answer: (request: Arrived) => number = () => 200,
): Promise<{ url: string; arrived: Arrived[] }> {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const one = { headers: request.headers, body: Buffer.concat(chunks) }
      arrived.push(one)
      response.writeHead(answer(one)).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, arrived }
}

const deliveries = async (user: TestUser, id: string): Promise<Shown[]> =>
  (succeeded(await user.api.get(`/webhooks/${id}/deliveries?limit=500`)) as any).deliveries

/** As the contract says it, by hand, over the bytes. */
function contractSignature(secret: string, { headers, body }: Arrived): string {
  const prefix = Buffer.from(`v0:${headers['x-service-request-timestamp'] as string}:`)
  return `v0=${createHmac('sha256', Buffer.from(secret))
    .update(Buffer.concat([prefix, body]))
    .digest('hex')}`
}

const single = ({ headers }: Arrived) => headers['x-service-signature']

test('[W80] the signatures hold over the bytes that arrive, with emoji and U+2028, and each attempt has a timestamp of its own', async () => {
  const user = await service.user()
  const receiver = await receive(() => (receiver.arrived.length === 1 ? 500 : 200))
  const { id, secret } = await createWebhook(user, { url: receiver.url, events: ['*'] })
  const name = 'café 😀 👩‍🚀 \u2028\u2029 "\\" \u0001 𝒳'
  const board = await makeBoard(user, { name })
  await until(() => receiver.arrived.length === 1, 'the first attempt')
  await until(async () => (await deliveries(user, id))[0]?.['status'] === 'waiting', 'it waits')
  movedMs += 67_000
  await until(() => receiver.arrived.length === 2, 'the second attempt')
  const [first, second] = receiver.arrived as [Arrived, Arrived]
  for (const one of [first, second]) {
    expect(single(one)).toBe(contractSignature(secret, one))
    expect(one.headers).toMatchObject({
      'x-service-event': 'board.created',
      'content-type': expect.stringContaining('application/json'),
    })
    expect(JSON.parse(one.body.toString('utf8'))).toMatchObject({
      resource: { id: board.id },
      data: { name },
    })
    const library = new Webhook(secret)
    expect(() => library.verify(one.body, one.headers as never)).not.toThrow()
    const later = String(Number(one.headers['webhook-timestamp']) + 1)
    expect(() => library.verify(one.body, { ...one.headers, 'webhook-timestamp': later } as never)).toThrow()
  }
  expect(second.headers['x-service-delivery']).toBe(first.headers['x-service-delivery'])
  expect(second.headers['webhook-id']).toBe(first.headers['x-service-delivery'])
  const seconds = [first, second].map(({ headers }) => Number(headers['x-service-request-timestamp']))
  expect(seconds[1]! - seconds[0]!).toBeGreaterThanOrEqual(60)
  expect(second.body.equals(first.body)).toBe(true)
  // The log has the exact text.
  const entries = await deliveries(user, id)
  expect(entries.map((entry) => Buffer.from(entry['payload']).equals(first.body))).toEqual(
    entries.map(() => true),
  )
})

test('[W81] after a rotation strict receivers of either secret get everything, and after a day the new one alone signs', async () => {
  const user = await service.user()
  let accepts = ''
  const receiver = await receive((one) => (single(one) === contractSignature(accepts, one) ? 200 : 401))
  const { id, secret: old } = await createWebhook(user, { url: receiver.url, events: ['board.created'] })
  const { secret: fresh } = succeeded(await user.api.post(`/webhooks/${id}/rotate-secret`)) as any
  const succeededOnes = async () =>
    (await deliveries(user, id)).filter(({ status }: any) => status === 'succeeded').length

  // The receiver that knows nothing of it: at its first attempts.
  accepts = old
  for (let n = 1; n <= 3; n++) {
    await makeBoard(user)
    await until(async () => (await succeededOnes()) === n, 'taken with the previous secret')
  }
  expect(receiver.arrived).toHaveLength(3)

  // The one that has the new secret alone already: a burst of more than would switch it off.
  accepts = fresh
  await Promise.all(Array.from({ length: 30 }, () => makeBoard(user)))
  for (let round = 0; (await succeededOnes()) < 33; round++) {
    expect(round).toBeLessThan(6)
    await until(
      async () =>
        (await deliveries(user, id)).every(
          ({ status, next_attempt_at: at }: any) =>
            status !== 'sending' && (status !== 'waiting' || Date.parse(at) > clock.now()),
        ),
      'all had their turn',
    )
    movedMs += 11 * 60_000 * 5 ** Math.max(0, round - 1)
  }
  const { webhooks } = (await user.api.get('/webhooks')).body as any
  expect(webhooks[0]).toMatchObject({ active: true })

  for (const one of receiver.arrived) {
    const all = one.headers['x-service-signatures'] as string
    if (one.headers['x-service-signatures']?.includes(','))
      expect(all.split(',')).toEqual([fresh, old].map((secret) => contractSignature(secret, one)))
  }
  movedMs += 25 * 3600_000
  const before = receiver.arrived.length
  await makeBoard(user)
  await until(() => receiver.arrived.length > before, 'the delivery of the day after')
  const last = receiver.arrived.at(-1)!
  expect([single(last), last.headers['x-service-signatures']]).toEqual(
    Array.from({ length: 2 }, () => contractSignature(fresh, last)),
  )
  expect((last.headers['webhook-signature'] as string).split(' ')).toHaveLength(1)
})

async function snippet(language: string): Promise<string> {
  const guide = await readFile(join(repository, 'docs/webhooks.md'), 'utf8')
  const section = guide.split('\n## ').find((one) => one.startsWith('Check the signature'))!
  const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(section) ?? []
  return code
}

test.each([
  ['js', 'receiver.mjs', process.execPath],
  ['python', 'receiver.py', 'python3'],
])(
  '[W82] the receiver of docs/webhooks.md in %s accepts what is genuine and nothing else',
  async (language, file, program) => {
    const folder = await mkdtemp(join(tmpdir(), 'corkboard-receiver-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, file), await snippet(language))
    const user = await service.user()
    const port = await freePort()
    movedMs = 0
    const { id, secret } = await createWebhook(user, { url: `http://127.0.0.1:${port}/`, events: ['*'] })
    const child = spawn(program, [join(folder, file)], {
      env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill())
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    await new Promise<void>((resolve, reject) => child.on('error', reject).on('spawn', resolve))
    const answers = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(
        () => null,
      )
      return response?.status === 401 // without any header
    }
    await until(answers, `${program} listens`)

    const outcome = async (): Promise<number> => {
      const { delivery } = succeeded(await user.api.post(`/webhooks/${id}/test`)) as any
      const attempt = async () =>
        (await deliveries(user, id)).find((one) => one['delivery_id'] === delivery.id && one['attempted_at'])
      await until(async () => (await attempt()) !== undefined, 'an attempt')
      return (await attempt())!['status_code']
    }
    expect(await outcome()).toBe(204)
    await until(() => printed === 'webhook.test\n', 'what it prints')

    // One that was caught on its way, by hand.
    const timestamp = () => String(Math.floor(Date.now() / 1000))
    const post = async (body: string, at: string, key: string, more: Record<string, string> = {}) => {
      const hex = createHmac('sha256', key).update(`v0:${at}:${body}`).digest('hex')
      const headers = {
        'x-service-request-timestamp': at,
        'x-service-signatures': `v0=${'0'.repeat(64)},v0=${hex}`,
        ...more,
      }
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status
    }
    const body = '{"type":"é 😀 \u2028"}'
    expect(await post(body, timestamp(), secret)).toBe(204)
    expect(await post(body, timestamp(), `${secret}x`)).toBe(401)
    expect(await post(body, String(Number(timestamp()) - 302), secret)).toBe(401)
    expect(await post(body, String(Number(timestamp()) + 302), secret)).toBe(401)
    expect(await post(body, 'soon', secret)).toBe(401)
    expect(await post(body, '', secret)).toBe(401)
    expect(await post(body, timestamp(), secret, { 'x-service-signatures': '' })).toBe(401)
    expect(await post(body, timestamp(), secret, { 'x-service-signatures': 'v0=é' })).toBe(401)

    // While two secrets sign it goes on with the previous one, afterwards no more.
    await user.api.post(`/webhooks/${id}/rotate-secret`)
    expect(await outcome()).toBe(204)
    await service.admin`update webhooks set previous_secret_until = now() where id = ${id}`
    expect(await outcome()).toBe(401)
  },
)

test('[W83] receivers that never come to an end, pour, break off or lead elsewhere: over in 10 s, logged, nobody forbidden is reached', async () => {
  movedMs = 0
  const user = await service.user()
  const forbidden = await listen(() => undefined, { host: '127.0.0.2' })
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
  const block = Buffer.alloc(256 * 1024)
  const drip = (head: string) =>
    listen((socket) => {
      socket.write(head)
      const timer = setInterval(() => socket.write('a'), 1000)
      socket.on('close', () => clearInterval(timer))
    })
  const once = (head: string, body: Buffer | string = '') =>
    listen((socket) => onRequest(socket, () => void (socket.write(head), socket.end(body))))
  const hosts: Record<string, Awaited<ReturnType<typeof listen>>> = {
    'headers byte by byte': await drip('HTTP/1.1 200 OK\r\nx-slow: '),
    'body byte by byte': await drip('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'),
    silence: await listen(),
    '1 GB': await listen((socket) =>
      onRequest(socket, () => {
        const pour = () => {
          while (!socket.destroyed && socket.write(block));
        }
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1024 ** 3}\r\n\r\n`)
        socket.on('drain', pour)
        pour()
      }),
    ),
    bomb: await once(
      `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`,
      bomb,
    ),
    reset: await listen((socket) => onRequest(socket, () => socket.resetAndDestroy())),
    redirect: await once(
      `HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2:${forbidden.port}/\r\ncontent-length: 0\r\n\r\n`,
    ),
  }
  const urls: [string, string][] = Object.entries(hosts).map(([name, { port }]) => [
    name,
    `http://127.0.0.1:${port}/`,
  ])
  // At creation it leads where it may; when it is connected to, it does not.
  let asked = 0
  names.set('rebinding.example', () => ((asked += 1) === 1 ? ['127.0.0.1'] : ['127.0.0.2']))
  urls.push(['rebinding', `http://rebinding.example:${forbidden.port}/`])
  const healthy = await receive()
  const webhooks = new Map<string, Shown>()
  for (const [name, url] of [...urls, ['healthy', healthy.url] as const])
    webhooks.set(name, await createWebhook(user, { url, events: ['*'] }))

  const before = process.memoryUsage().rss
  const startedAt = performance.now()
  await makeBoard(user)
  await until(() => healthy.arrived.length === 1, 'the healthy receiver has its delivery', 2000)
  const attempts = async () => {
    const logs = await Promise.all(
      [...webhooks].map(async ([name, { id }]) => [name, await deliveries(user, id)] as const),
    )
    return new Map(logs.map(([name, entries]) => [name, entries.find((one) => one['attempted_at'])]))
  }
  await until(async () => [...(await attempts()).values()].every(Boolean), 'each has an attempt', 13_000)
  expect(performance.now() - startedAt).toBeLessThan(12_500)
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
  const seen = Object.fromEntries(
    [...(await attempts())].map(([name, one]) => [
      name,
      [one!['status'], one!['status_code'], one!['error']],
    ]),
  )
  const late = ['failed', null, 'no complete answer within 10 s']
  expect(seen).toEqual({
    'headers byte by byte': late,
    'body byte by byte': late,
    silence: late,
    '1 GB': ['succeeded', 200, null],
    bomb: ['succeeded', 200, null],
    reset: ['failed', null, 'the connection was reset'],
    redirect: ['failed', 302, expect.any(String)],
    rebinding: ['failed', null, expect.stringContaining('must lead to a public address')],
    healthy: ['succeeded', 200, null],
  })
  for (const [name, { durationMs }] of [...(await attempts())].map(
    ([name, one]) => [name, { durationMs: one!['duration_ms'] }] as const,
  ))
    expect([name, durationMs <= 11_000]).toEqual([name, true])
  expect(forbidden.connections()).toBe(0)
  await until(() => Object.values(hosts).every((host) => host.open() === 0), 'nothing stays open')
}, 40_000)

test('[W84] no secret and no token is in the log, in an answer, in the delivery log or in the database in clear', async () => {
  movedMs = 0
  const user = await service.user()
  const receiver = await receive(() => (receiver.arrived.length % 2 ? 500 : 200))
  const made = await createWebhook(user, { url: receiver.url, events: ['*'] })
  const { secret: second } = succeeded(await user.api.post(`/webhooks/${made.id}/rotate-secret`)) as any
  await makeBoard(user)
  await user.api.post(`/webhooks/${made.id}/test`)
  await until(() => receiver.arrived.length === 2, 'two attempts')
  // Somebody sends one where it does not belong.
  await user.api.get(`/webhooks/${made.secret}/deliveries`)
  await user.api.get(`/webhooks/${encodeURIComponent(second)}/deliveries`)
  await user.api.get(`/webhooks?workspace=${second}`)
  await user.api.post('/webhooks', { workspace_id: user.workspaceId, url: made.secret, events: [second] })

  // The key was changed: that is said, and nothing else.
  const broken = await createWebhook(user, { url: receiver.url, events: ['board.deleted'] })
  await service.admin`update webhooks set secret = overlay(secret placing '\\x00000000'::bytea from 2) where id = ${broken.id}`
  await user.api.post(`/webhooks/${broken.id}/test`)
  await until(
    async () => (await deliveries(user, broken.id)).some((one) => one['attempted_at']),
    'an attempt',
  )
  const [attempt] = (await deliveries(user, broken.id)).filter((one) => one['attempted_at'])
  expect(attempt!['error']).toMatch(/secret of this webhook cannot be read/)
  expect(logged).toMatch(/another SECRET_KEY/)

  const answers = await Promise.all([
    user.api.get('/webhooks'),
    user.api.get(`/webhooks/${made.id}/deliveries`),
    user.api.get(`/webhooks/${broken.id}/deliveries`),
    user.api.patch(`/webhooks/${made.id}`, { active: true }),
    user.api.post(`/webhooks/${made.id}/test`),
  ])
  const tables = await service.admin<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'corkboard' and table_type = 'BASE TABLE'`
  const dump: string[] = []
  for (const { name } of tables) {
    for (const row of await service.admin`select t::text as text from ${service.admin(name)} t`)
      dump.push(row['text'])
  }
  expect(dump.join('\n')).toContain(made.id)
  const places = {
    log: logged,
    answers: answers.map(({ text }) => text).join('\n'),
    database: dump.join('\n'),
  }
  const secrets = { first: made.secret, second, broken: broken.secret, token: user.token }
  for (const [place, text] of Object.entries(places)) {
    expect(text.length).toBeGreaterThan(1000)
    for (const [name, secret] of Object.entries(secrets)) {
      const raw = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
      const forms = [
        secret,
        secret.slice(8, 30),
        encodeURIComponent(secret),
        Buffer.from(secret).toString('hex'),
        raw.toString('hex'),
      ]
      expect([place, name, forms.filter((form) => text.includes(form))]).toEqual([place, name, []])
    }
  }
})
