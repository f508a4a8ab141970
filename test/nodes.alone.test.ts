/** A chosen part of the suites on three nodes. `NODES=3 npm test -- test/api test/collab` runs all of them. */
import { expect, onTestFinished, test } from 'vitest'
import { repository, run } from './support/instance.ts'
import { inTurn, pinnedRules } from './support/nodes.ts'
import { runningRedis } from './support/redis-server.ts'

const chosen = [
  'test/collab/main-job.test.ts',
  'test/api/boards.test.ts',
  'test/api/board-batches.test.ts',
  'test/api/notifications.test.ts',
]

/** Those in which nodes send each other much. */
const chosenForRedis = ['test/collab/main-job.test.ts', 'test/collab/awareness-senders.test.ts']

async function passOnThreeNodes(files: string[], redisUrl = ''): Promise<void> {
  const { PATH, HOME, CI, NODE_COMPILE_CACHE } = process.env
  const vitest = ['--import', './server/preflight.js', 'node_modules/vitest/vitest.mjs', 'run']
  const { code, stdout, stderr } = await run(process.execPath, [...vitest, '--maxWorkers=1', ...files], {
    cwd: repository,
    timeout: 290_000,
    env: { PATH, HOME, CI, NODE_COMPILE_CACHE, NODES: '3', REDIS_URL: redisUrl, NO_COLOR: '1' },
  })
  expect(code, stdout + stderr).toBe(0)
  expect(stdout).toContain(`Test Files  ${files.length} passed`)
}

test('[CG11] chosen suites pass when each call goes to the next of three nodes', { timeout: 300_000 }, () =>
  passOnThreeNodes(chosen),
)

test('[CG11] chosen suites pass on three nodes with a Redis between them', { timeout: 300_000 }, async () => {
  const redis = await runningRedis()
  onTestFinished(() => redis.close())
  await passOnThreeNodes(chosenForRedis, redis.url)
  expect(await redis.command('INFO commandstats')).toMatch(/cmdstat_publish:calls=\d{2,},/)
})

test('[CG11] calls go to the nodes in turn; the rules that are marked are read from the specification', () => {
  const next = inTurn(['a', 'b', 'c'])
  expect([next(), next(), next(), next()]).toEqual(['a', 'b', 'c', 'a'])
  const text = '- **A1** one\n- **B12** (one node) two\ntext **C1** (one node) three\n'
  expect(pinnedRules(text)).toEqual(['B12'])
})

test('[CG11] [E4] a test of a rule that is marked stays on the first node', () => {
  const next = inTurn(['a', 'b', 'c'])
  expect([next(), next(), next()]).toEqual(['a', 'a', 'a'])
})
