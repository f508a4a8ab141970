/** What becomes of nodes whose Redis is away, restarted, flushed or frozen. */
import { expect, onTestFinished, test } from 'vitest'
import { openEditor, until } from '../support/editor.ts'
import { logLines } from '../support/log-lines.ts'
import { processFaults } from '../support/process-faults.ts'
import { redisServer } from '../support/redis-server.ts'
import { forFile, nodesOfFile } from '../support/test-file.ts'

const redis = await forFile(redisServer())
const { log, about } = logLines()
// Redis does not run yet.
const { here, there, user } = await nodesOfFile({ config: { redisUrl: redis.url }, log })

const away = () => about('Redis is out of reach').length
const connected = () => about('Redis is connected').length

const boardId = (await user.api.post('/boards', { name: 'Redis' })).body.board.id as string
const anna = await openEditor(here.url, { boardId, token: user.token })
const ben = await openEditor(there.url, { boardId, token: user.token })
let cards = 0

/** An edit on each node reaches the other one, and so does a write of the API. */
async function expectTogether(): Promise<void> {
  const ids = [`card-${(cards += 1)}`, `card-${(cards += 1)}`]
  anna.addCard(ids[0]!)
  ben.addCard(ids[1]!)
  await until(() => ben.cards.has(ids[0]!) && anna.cards.has(ids[1]!), 'edits arrive on the other node', 5000)
  await Promise.all([anna.saved(), ben.saved()])
}

async function expectLive(): Promise<void> {
  const path = `/boards/${boardId}/cards`
  await until(
    async () => (await user.api.post(path, { kind: 'note', x: 0, y: 0 })).body.live,
    'a write is live',
  )
}

test('[NB5] nodes start without Redis, say so once, work over NOTIFY, and connect when it is there', async () => {
  await until(() => away() === 2, 'both say so')
  expect(connected()).toBe(0)
  await expectTogether()
  await expectLive()
  await redis.start()
  await until(() => connected() === 2, 'both are connected', 5000)
  await expectTogether()
  await expectLive()
  expect([away(), connected()]).toEqual([2, 2])
})

test('[NB6] Redis that ends harms nothing: editing goes on, and each node logs its end and its return once', async () => {
  await redis.kill()
  await until(() => away() === 4, 'both notice')
  for (let n = 0; n < 3; n++) await expectTogether()
  await expectLive()
  await redis.start()
  await until(() => connected() === 4, 'both are back', 5000)
  await expectTogether()
  await redis.command('FLUSHALL')
  await redis.command('CLIENT KILL TYPE pubsub')
  await until(() => connected() === 6, 'subscribers that Redis dropped are back', 5000)
  await expectTogether()
  await expectLive()
  expect([away(), connected()]).toEqual([6, 6])
})

test('[NB6] Redis that hangs is given up after some seconds, and editing goes on meanwhile', async () => {
  const [ends, starts] = [away(), connected()]
  redis.freeze()
  onTestFinished(() => redis.thaw())
  await expectTogether()
  await until(() => away() === ends + 2, 'both give it up', 15_000)
  await expectTogether()
  await expectLive()
  redis.thaw()
  await until(() => connected() === starts + 2, 'both are back', 15_000)
  await expectTogether()
  expect(processFaults()).toEqual([])
})
