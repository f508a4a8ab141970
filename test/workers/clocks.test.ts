/** Nodes whose clocks differ: a service process with a shifted clock beside one that is right. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBoard } from '../api/board.ts'
import { begin, answerConsent, redeem, register, toConsent } from '../api/oauth.ts'
import { sendParts } from '../api/file.ts'
import { person } from '../api/sign-in.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { ApiClient } from '../support/http.ts'
import { makeDataDir, startInstance, type Instance } from '../support/instance.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { startService, testSecretKey, type TestService } from '../support/service.ts'
import { makeWebhook } from '../support/webhook.ts'

const minute = 60_000
const shiftedClock = new URL('../support/shifted-clock.js', import.meta.url).href
let testDatabase: TestDatabase
let dataDir: string
let right: TestService
let receiver: Receiver
const cleanUps: (() => Promise<void>)[] = []

beforeAll(async () => {
  testDatabase = await cloneDatabase()
  receiver = await openReceiver()
  dataDir = await makeDataDir((work) => void cleanUps.push(work))
  right = await startService({ testDatabase, config: { dataDir, egressAllow: ['127.0.0.1/32'] } })
})
afterAll(async () => {
  await receiver?.close()
  await right?.stop()
  for (const cleanUp of cleanUps) await cleanUp()
  await testDatabase?.drop()
})

/** Runs `work` while a process with this error of its clock is up. */
async function withShifted(shiftMs: number, work: (shifted: Instance) => Promise<void>): Promise<void> {
  const shifted = await startInstance(dataDir, {
    NODE_OPTIONS: `--import ${shiftedClock}`,
    CLOCK_SHIFT_MS: String(shiftMs),
    DATABASE_URL: testDatabase.url,
    SECRET_KEY: testSecretKey,
    EGRESS_ALLOW: '127.0.0.1/32',
    PUBLIC_URL: right.url,
  })
  try {
    await work(shifted)
  } finally {
    for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
    expect((await shifted.stop()).code).toBe(0)
  }
}

test.each([2 * minute, -2 * minute])(
  '[CG1] a clock that is off by %i ms doubles no delivery, ends no lease and makes no attempt early',
  (shiftMs) =>
    withShifted(shiftMs, async (shifted) => {
      const user = await right.user()
      const there = new ApiClient(shifted.url, user.token)
      const board = await makeBoard(user)
      const webhookId = await makeWebhook(right, user, receiver.url)
      const failing = await makeWebhook(right, user, `${receiver.url}/failing`)
      receiver.received.length = 0
      receiver.answer = ({ path }) => (path === '/failing' ? 500 : null)
      for (let n = 0; n < 3; n++)
        for (const api of [user.api, there])
          expect((await api.post(`/boards/${board.id}/cards`, { kind: 'note', x: n, y: 0 })).status).toBe(201)
      const log = () => right.admin<{ status: string; wait: number }[]>`
        select d.status, extract(epoch from d.next_attempt_at - clock_timestamp())::float8 as wait
        from webhook_deliveries d where d.webhook_id = ${failing}`
      await until(() => receiver.hanging.length >= 4, 'attempts are under way')
      await until(
        async () => (await log()).some(({ status }) => status === 'waiting'),
        'an attempt has failed',
      )
      await until(later(3000), 'both processes have looked at the queue, which they do every second')
      for (const { wait } of (await log()).filter(({ status, wait }) => status === 'waiting' && wait > 2))
        expect(wait).toBeLessThan(67)
      const attemptsOf = (id: string) => right.admin<{ error: string }[]>`
        select error from webhook_attempts where webhook_id = ${id} and error like 'interrupted%'`
      receiver.answer = ({ path }) => (path === '/failing' ? 500 : 200)
      for (const response of receiver.hanging.splice(0)) response.writeHead(200).end()
      await until(async () => {
        const open = await right.admin`
          select from webhook_deliveries where webhook_id = ${webhookId} and status <> 'succeeded'`
        return open.length === 0
      }, 'everything is delivered')
      const sent = receiver.received
        .filter(({ path }) => path !== '/failing')
        .map(({ deliveryId }) => deliveryId)
      expect(sent.length).toBe(6)
      expect(new Set(sent).size).toBe(6)
      const failed = receiver.received
        .filter(({ path }) => path === '/failing')
        .map(({ deliveryId }) => deliveryId)
      expect(new Set(failed).size).toBe(failed.length)
      expect([...(await attemptsOf(webhookId)), ...(await attemptsOf(failing))]).toEqual([])
    }),
)

/** True from this time on. */
function later(ms: number): () => boolean {
  const from = performance.now()
  return () => performance.now() - from > ms
}

test('[CG2] a clock that is a day ahead ends no upload, key, code or token of another node', () =>
  withShifted(25 * 60 * minute, async (shifted) => {
    const somebody = await person(right)
    const there = { ...somebody, api: new ApiClient(shifted.url, somebody.token) }
    const board = await makeBoard(somebody)
    const begunUpload = await somebody.api.post(`/uploads/multipart?board=${board.id}`, { bytes: 5 })
    const { key, upload_id } = begunUpload.body
    const session = { board_id: board.id, key, upload_id }
    const parts = await sendParts(there, session, Buffer.from('hello'), 8 * 1024 * 1024, [1])
    const completed = await there.api.post('/uploads/multipart/complete', { ...session, parts })
    expect(completed.status).toBe(201)

    const once = { 'idempotency-key': crypto.randomUUID() }
    const note = { kind: 'note', title: 'once', x: 0, y: 0 }
    const [first, again] = [
      await somebody.api.post(`/boards/${board.id}/cards`, note, once),
      await there.api.post(`/boards/${board.id}/cards`, note, once),
    ]
    expect(again.body.cards[0].id).toBe(first.body.cards[0].id)

    const app = await register(right)
    const begun = await begin(right, app)
    const consent = await toConsent(somebody.browser, begun, somebody.email)
    const answer = await answerConsent(somebody.browser, consent)
    const elsewhere = { ...app, server: { ...app.server, token_endpoint: `${shifted.url}/oauth/token` } }
    const tokens = await redeem(elsewhere, begun, answer)
    for (const url of [right.url, shifted.url])
      expect((await new ApiClient(url, tokens.access_token).get('/me')).status).toBe(200)
  }))
