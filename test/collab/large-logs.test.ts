/** Opening many large boards at once. */
import { afterAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { tail } from '../../collab/log/log.ts'
import { makeBoard } from '../api/board.ts'
import { cloneDatabase } from '../support/database.ts'
import { until } from '../support/editor.ts'
import { scrape } from '../support/metrics.ts'
import { disconnectAll, enter } from '../support/raw-client.ts'
import { startService } from '../support/service.ts'

const metricsToken = 'a-token-for-scrapes'
const testDatabase = await cloneDatabase()
const here = await startService({ testDatabase })
const there = await startService({ testDatabase, workers: false, config: { metricsToken } })
const user = await here.user()

afterAll(async () => {
  disconnectAll()
  await there.stop()
  await here.stop()
  await testDatabase.drop()
})

const words = 'x'.repeat(1_500_000)

async function largeBoard(): Promise<string> {
  const { id } = await makeBoard(user)
  const document = new Y.Doc()
  document.getText('words').insert(0, words)
  const client = await enter(here.url, { boardId: id, token: user.token })
  client.update(Y.encodeStateAsUpdate(document))
  await until(() => client.acknowledgements.length > 0, 'it is saved')
  return id
}

test('[X67] a large log is read when it is its turn: one of an account at once', async () => {
  const ids = [
    await largeBoard(),
    await largeBoard(),
    await largeBoard(),
    await largeBoard(),
    await largeBoard(),
  ]
  const running: number[] = []
  const waiting: number[] = []
  const opened = Promise.all(ids.map((boardId) => enter(there.url, { boardId, token: user.token })))
  const done = new AbortController()
  void opened.finally(() => done.abort())
  while (!done.signal.aborted) {
    const scraped = await scrape(there.homeUrl, metricsToken)
    running.push(scraped.value('corkboard_queue_running', { queue: 'large_logs' })!)
    waiting.push(scraped.value('corkboard_queue_waiting', { queue: 'large_logs' })!)
  }
  for (const client of await opened)
    expect(client.documentOf(client.address).getText('words').toString()).toBe(words)
  expect(Math.max(...running)).toBe(1)
  expect(Math.max(...waiting)).toBeGreaterThan(0)
})

test('[X67] a log that is too large to be read at once is left out, and read whole without that bound', async () => {
  const id = await largeBoard()
  const left = (await tail(there.live.database, id, 0, 'request', 1_000_000))!
  expect([left.isLeftOut, left.updates, left.snapshot]).toEqual([true, [], null])
  const whole = (await tail(there.live.database, id, 0, 'request', 2_000_000))!
  expect(whole.isLeftOut).toBe(false)
  expect(whole.updates.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeGreaterThan(words.length)
  const { seq, ownerId, logBytes } = whole
  expect(left).toMatchObject({ seq, ownerId, logBytes })
})
