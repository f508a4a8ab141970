import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { findEmbedded } from '../../sql/embedded/embedded.ts'
import { openDatabase } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { freezeServer } from '../support/freeze.ts'
import { ApiClient } from '../support/http.ts'
import { startInstance, testDataDir } from '../support/instance.ts'
import { startService } from '../support/service.ts'
import { swallowingProxy } from '../support/swallowing-proxy.ts'

const frozenMs = 18_000
/** Tolerance for a busy machine, in addition to the time that the rule allows. */
const slackMs = 1000

interface Answer {
  status: number
  code: unknown
  tookMs: number
}

async function timed(asking: Promise<{ status: number; body: { code?: unknown } }>): Promise<Answer> {
  const began = performance.now()
  const { status, body } = await asking
  return { status, code: body.code, tookMs: performance.now() - began }
}

test(
  '[L20, L21, L22] a frozen PostgreSQL: 503 in time, and all goes on by itself when it does',
  { timeout: 120_000 },
  async () => {
    const dataDir = await testDataDir()
    const instance = await startInstance(dataDir, { DEMO: 'on' })
    await until(() => /boards\/[^/]+\//.test(instance.stderr()), 'the demo is printed')
    const [, token = ''] = /Bearer ([^']+)'/.exec(instance.stderr()) ?? []
    const [, demo = ''] = /boards\/([^/]+)\//.exec(instance.stderr()) ?? []
    const api = new ApiClient(instance.url, token)
    await api.delete(`/boards/${demo}`) // its cards count
    const board: string = (await api.post('/boards', { name: 'Frozen' })).body.board.id
    const create = (title: string) => api.post(`/boards/${board}/cards`, { cards: [{ kind: 'note', title }] })
    const health = async (path: string) => {
      const answer = await fetch(`${instance.url}${path}`)
      return { status: answer.status, body: (await answer.json()) as { code?: unknown } }
    }

    const acknowledged: string[] = []
    const unknown: string[] = []
    const write = async (title: string): Promise<Answer> => {
      const answer = await timed(create(title))
      if (answer.status === 201) acknowledged.push(title)
      else unknown.push(title)
      return answer
    }
    // Send more requests than there are connections, so that each connection is in use.
    await Promise.all(Array.from({ length: 20 }, (_, n) => write(`before ${n}`)))
    expect(unknown).toEqual([])

    const { pid } = (await findEmbedded(dataDir))!
    const thaw = freezeServer(pid)
    onTestFinished(thaw)
    const frozenAt = performance.now()
    const asked: Promise<Answer>[] = []
    const probes: Answer[] = []
    const ask = (round: string) => {
      for (let m = 0; m < 8; m++) asked.push(write(`${round}.${m}`), timed(api.get(`/boards/${board}/cards`)))
    }
    for (let n = 0; performance.now() - frozenAt < frozenMs; n++) {
      ask(`frozen ${n}`)
      asked.push(timed(api.get('/me')), timed(api.get('/search?q=hello')))
      probes.push(await timed(health('/readyz')))
      const alive = await timed(health('/healthz'))
      expect(alive.status).toBe(200)
      expect(alive.tookMs).toBeLessThan(slackMs)
      await delay(500)
    }
    for (const { status, tookMs } of probes) {
      expect(status).toBe(503)
      expect(tookMs).toBeLessThan(2000 + slackMs)
    }
    // A request waits for a connection for four seconds, so these are served.
    ask('last')
    await delay(500)
    const thawedAt = performance.now()
    thaw()

    await until(async () => (await health('/readyz')).status === 200, 'it is ready again', 10_000)
    const answers = await Promise.all(asked)
    const refused = answers.filter(({ status }) => status === 503)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201, 503]))
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['storage_unavailable']))
    expect(refused.length).toBeGreaterThan(answers.length / 2)
    expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(10_000 + slackMs)
    expect(performance.now() - thawedAt).toBeLessThan(30_000)

    // Send more requests than there are connections, to check that each connection works again.
    const after = await Promise.all(Array.from({ length: 40 }, (_, n) => write(`after ${n}`)))
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([201]))
    const titles = await readTitles(api, board)
    expect(new Set(titles).size).toBe(titles.length)
    expect(titles).toEqual(expect.arrayContaining(acknowledged))
    expect(
      titles.filter((title) => !acknowledged.includes(title)).every((title) => unknown.includes(title)),
    ).toBe(true)
    const verified = await instance.corkboard('verify')
    expect(verified).toMatchObject({ code: 0 })
    expect((await instance.stop()).code).toBe(0)
  },
)

async function readTitles(api: ApiClient, board: string): Promise<string[]> {
  const { body } = await api.get(`/boards/${board}/cards`)
  return (body.cards as { title: string }[]).map(({ title }) => title)
}

test(
  '[L20, L21, L22] a partition: 503 in time, and new connections as soon as there is a way',
  { timeout: 90_000 },
  async () => {
    const database = await cloneDatabase()
    const proxy = await swallowingProxy(Number(new URL(database.url).port))
    const service = await startService({ testDatabase: { ...database, url: proxy.through(database.url) } })
    onTestFinished(async () => {
      await service.stop()
      await proxy.stop()
      await database.drop()
    })
    const user = await service.user()
    const { body } = await user.api.post('/boards', { name: 'Parted' })
    const cards = `/boards/${body.board.id}/cards`
    const written = await user.api.post(cards, { cards: [{ kind: 'note', title: 'before' }] })
    expect(written.status).toBe(201)

    proxy.silenceAll()
    const asked = [
      timed(user.api.post(cards, { cards: [{ kind: 'note', title: 'parted' }] })),
      timed(user.api.get(cards)),
      timed(user.api.get('/boards')),
    ]
    const ready = await timed(readyz(service.url))
    expect(ready).toMatchObject({ status: 503 })
    expect(ready.tookMs).toBeLessThan(2000 + slackMs)
    for (const { status, code, tookMs } of await Promise.all(asked)) {
      expect({ status, code }).toEqual({ status: 503, code: 'storage_unavailable' })
      expect(tookMs).toBeLessThan(10_000 + slackMs)
    }
    proxy.relay()
    await until(async () => (await readyz(service.url)).status === 200, 'it is ready again', 10_000)
    // The commit got no answer. It is repeated with its id until it gets one, and is made at most once.
    await until(
      async () => (await user.api.post(cards, { cards: [{ kind: 'note', title: 'after' }] })).status === 201,
      'a write goes through',
      20_000,
    )
    const titles = await readTitles(user.api, body.board.id)
    expect(titles.filter((title) => title === 'before')).toHaveLength(1)
    expect(titles.filter((title) => title === 'parted').length).toBeLessThanOrEqual(1)
  },
)

async function readyz(url: string): Promise<{ status: number; body: { code?: unknown } }> {
  const answer = await fetch(`${url}/readyz`)
  return { status: answer.status, body: (await answer.json()) as { code?: unknown } }
}

test(
  '[L22] what is listened to is heard again after its connection has fallen silent',
  { timeout: 60_000 },
  async () => {
    const cloned = await cloneDatabase()
    const proxy = await swallowingProxy(Number(new URL(cloned.url).port))
    const database = openDatabase({ url: proxy.through(cloned.url) })
    const heard: string[] = []
    const listener = await database.listen('silence', (text) => heard.push(text))
    onTestFinished(async () => {
      await listener.close()
      await database.close()
      await proxy.stop()
      await cloned.drop()
    })
    await cloned.admin`select pg_notify('silence', 'first')`
    await until(() => heard.includes('first'), 'it hears')
    proxy.silenceOpen()
    await until(
      async () => {
        await cloned.admin`select pg_notify('silence', 'again')`
        return heard.includes('again')
      },
      'it hears again',
      40_000,
    )
  },
)
