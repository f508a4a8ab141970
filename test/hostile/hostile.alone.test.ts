/** The short form of `npm run hostile`, with limits that hold on a busy machine; and the measures that it rests on. */
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run as runCommand, repository } from '../support/instance.ts'
import { failOnLongTurn } from '../support/long-turn.ts'
import { measureTurns, type Turns } from '../support/turn-meter.ts'
import { points, type Attack } from './attack.ts'
import { attacks } from './attacks.ts'
import { HostileRun, type Figures } from './run.ts'
import { ciLimits, limits, missed } from './verdict.ts'

const shortForm = attacks.filter(({ short }) => short)

describe('the short form', () => {
  let run: HostileRun
  let quiet: Figures
  /** What the service used at most in the attack of the running test. */
  let turns: Turns

  beforeAll(async () => {
    run = await HostileRun.start({ short: true })
    quiet = await run.quiet()
  }, 120_000)
  afterAll(() => run?.end())

  failOnLongTurn(ciLimits.turnMs, {
    reset: () => void (turns = { longestDelayMs: 0, longestCpuMs: 0 }),
    read: () => turns,
  })

  test.each(shortForm.map((attack): [string, Attack] => [attack.name, attack]))(
    '[HO1] [HO2] [HO3] [HO4] [HO5] %s neither stalls the service nor a second tenant, and is answered clearly',
    { timeout: 120_000 },
    async (_name, attack) => {
      const figures = await run.attack(attack)
      turns = figures
      expect(missed(attack, figures, quiet, ciLimits), run.output).toEqual([])
    },
  )

  test('[HO3] after all of them the service is killed, starts within 15 s and serves the tenant', async () => {
    expect(await run.restart(), run.output).toEqual([])
  }, 60_000)
})

test('[HO6] every kind of work is attacked, each attack has a name of its own, and the short form has all kinds', () => {
  const names = attacks.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThanOrEqual(Object.keys(points).length + 20)
  const kinds = Object.keys(points).map(Number)
  expect(new Set(shortForm.map(({ point }) => point))).toEqual(new Set(kinds))
})

const well: Figures = {
  attack: 'sample',
  longestDelayMs: 20,
  longestCpuMs: 20,
  peakBytes: 300e6,
  tenant: { samples: 500, p50Ms: 5, p99Ms: 20, rareMs: { open: 20, picture: 20 }, failures: {} },
  answers: { '201': 1, '402 limit_reached': 2, 'close 1009 message too big': 1 },
  faults: [],
}
const sample = { ...attacks[0]!, expects: ['201'] }

test.each<[string, Partial<Figures>, RegExp]>([
  ['a loop that stood', { longestDelayMs: 251 }, /^the loop was blocked for 251 ms; 250 ms are allowed$/],
  [
    'a slow tenant',
    { tenant: { ...well.tenant, p99Ms: 201 } },
    /^the tenant's p99 is 201 ms; 200 ms are allowed$/,
  ],
  [
    'a slow picture',
    { tenant: { ...well.tenant, rareMs: { picture: 1001 } } },
    /^the tenant's 'picture' took 1001 ms/,
  ],
  [
    'a refused tenant',
    { tenant: { ...well.tenant, failures: { 'read: 503': 2 } } },
    /^the tenant: read: 503 \(2 times\)$/,
  ],
  ['much memory', { peakBytes: 1.6 * 1024 ** 3 }, /^1638 MB of memory; 1536 MB are allowed$/],
  ['a service that is gone', { faults: ['the service ended by itself'] }, /^the service ended by itself$/],
  [
    'an error without a code',
    { answers: { '500 internal_error': 1 } },
    /no clear answer: 500 internal_error/,
  ],
  ['a close without a reason', { answers: { 'close 1006': 1 } }, /no clear answer: close 1006/],
])('[HO7] the verdict names %s, and nothing when all is well', (_what, change, expected) => {
  expect(missed(sample, well, well, limits)).toEqual([])
  const found = missed(sample, { ...well, ...change }, well, limits)
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(expected)
})

test('[HO8] a turn is measured in CPU time, apart from the time for which the thread waits or another one works', async () => {
  using meter = measureTurns()
  await delay(20)
  meter.reset()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await delay(20)
  const waited = meter.read()
  expect(waited.longestDelayMs).toBeGreaterThan(250)
  expect(waited.longestCpuMs).toBeLessThan(100)

  meter.reset()
  work(150)
  await delay(20)
  expect(meter.read().longestCpuMs).toBeGreaterThan(120)
})

test(
  '[HO8] a test in which one turn used more CPU time than its bound fails, and says so',
  { timeout: 120_000 },
  async () => {
    const { code, stdout, stderr } = await runCommand(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/hostile/long-turn.config.ts'],
      { cwd: repository, env: { PATH: process.env['PATH'], NO_COLOR: '1' } },
    )
    const output = stdout + stderr
    expect(code).toBe(1)
    expect(output).toContain('1 failed | 1 passed')
    expect(output).toMatch(/one turn of the event loop used \d+ ms of CPU time; 100 ms are allowed/)
  },
)

test('[HO9] the command lists the attacks, and refuses a name that is none', async () => {
  const hostile = (...args: string[]) =>
    runCommand(process.execPath, ['test/hostile/main.ts', ...args], { cwd: repository })
  const { code, stdout } = await hostile('--list')
  expect(code).toBe(0)
  for (const { name } of attacks) expect(stdout).toContain(`${name} `)
  const refused = await hostile('--only', 'nothing')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('No attack has this name. --list shows them.')
})

/** Uses so much CPU time in one turn. */
function work(cpuMs: number): void {
  const start = process.threadCpuUsage()
  while ((process.threadCpuUsage(start).user + process.threadCpuUsage(start).system) / 1000 < cpuMs);
}
