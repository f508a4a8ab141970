import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DatabaseClock } from '../../sql/database-clock.ts'
import { openDatabase, type Database } from '../../sql/database.ts'
import { cloneDatabase } from '../support/database.ts'
import { readSources } from '../support/imports.ts'
import { repository } from '../support/instance.ts'

/** A log that keeps its lines. */
function keptLog() {
  const lines: { fields: object; message: string }[] = []
  return { lines, warn: (fields: object, message: string) => void lines.push({ fields, message }) }
}

test('[CG3] the clock is the database’s, whatever this machine’s says, and the difference is logged once', async () => {
  const testDatabase = await cloneDatabase()
  const database = openDatabase({ url: testDatabase.url })
  onTestFinished(async () => {
    await database.close()
    await testDatabase.drop()
  })
  const trueNow = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => trueNow() - 120_000)
  onTestFinished(() => void vi.restoreAllMocks())
  const log = keptLog()
  const clock = new DatabaseClock({ database, log, everyMs: 10 })
  await clock.start()
  onTestFinished(() => clock.stop())
  const asked = trueNow()
  const said = clock.now()
  expect(said).toBeGreaterThan(asked - 2000)
  expect(said).toBeLessThan(trueNow() + 2000)
  await expect.poll(() => log.lines.length).toBe(1)
  expect(log.lines[0]).toEqual({
    fields: { aheadMs: expect.closeTo(-120_000, -4) },
    message: "this machine's clock differs from the database's; the database's is used",
  })
})

test('[CG3] a slow or missing answer of the database corrects nothing; a wrong time is corrected', async () => {
  let answers = 0
  let answer: () => Promise<number> = () => Promise.resolve(1_000_000)
  const source = {
    async callAsSystem() {
      answers += 1
      return [{ now: await answer() }]
    },
  } as unknown as Pick<Database, 'callAsSystem'>
  const clock = new DatabaseClock({ database: source, log: keptLog(), everyMs: 5 })
  const begun = performance.now()
  await clock.start()
  onTestFinished(() => clock.stop())
  const trueTime = () => 1_000_000 + performance.now() - begun
  const more = async (count: number) => {
    const from = answers
    await expect.poll(() => answers - from, { interval: 1 }).toBeGreaterThan(count)
  }
  const off = () => Math.abs(clock.now() - trueTime())

  answer = async () => {
    const read = trueTime() // right when the question is read, and late with the answer
    await new Promise((resolve) => setTimeout(resolve, 300))
    return read
  }
  await more(2)
  expect(off()).toBeLessThan(100)
  answer = () => Promise.reject(new Error('out of reach'))
  await more(2)
  expect(off()).toBeLessThan(100)
  answer = () => Promise.resolve(trueTime() + 60_000)
  await more(2)
  expect(off()).toBeGreaterThan(59_900)
  expect(off()).toBeLessThan(60_100)
})

test('[CG3] nodes agree from their start, although the first question waits for a connection', async () => {
  const begun = performance.now()
  const trueTime = () => 1_000_000 + performance.now() - begun
  let connected = false
  const source = {
    async callAsSystem() {
      if (!connected) await new Promise((resolve) => setTimeout(resolve, 200))
      connected = true
      return [{ now: trueTime() }]
    },
  } as unknown as Pick<Database, 'callAsSystem'>
  const clock = new DatabaseClock({ database: source, log: keptLog() })
  await clock.start()
  onTestFinished(() => clock.stop())
  expect(Math.abs(clock.now() - trueTime())).toBeLessThan(20) // 100 by the first reading alone
})

/** These measure a time of this process alone, or take what another program on this machine says. */
const ofThisMachine = [
  'api/oauth/adapter.ts', // the provider takes its time from the machine
  'collab/awareness/room.ts',
  'collab/documents/open-boards.ts',
  'collab/gateway/gateway.ts',
  'collab/gateway/presence.ts',
  'collab/gateway/socket-reader.ts',
  'collab/gateway/socket.ts',
  'collab/log/verify.ts',
  'platform/clock.ts',
  'platform/storage/disk-store.ts', // compares with the times of files
  'server/cli/listen/deliver-event.ts', // signs for a receiver on this machine
  'server/cli/progress.ts',
  'server/log.ts',
  'sql/database-clock.ts',
  'sql/embedded/claim.ts',
  'sql/embedded/processes.ts',
]

test('[CG3] what is compared with times in the database takes them from the clock', async () => {
  const sources = await readSources(repository, ['api', 'workers', 'collab', 'sql', 'platform', 'server'])
  const texts = await Promise.all(
    sources.map(async ({ path }) => ({ path, text: await readFile(join(repository, path), 'utf8') })),
  )
  const own = texts.filter(({ text }) => /\bDate\.now\(\)|\bnew Date\(\)/.test(text)).map(({ path }) => path)
  expect(own.toSorted()).toEqual(ofThisMachine)
})
