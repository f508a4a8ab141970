/** Runs a few rounds. `CRASH_ROUNDS=50 npm test -- test/crash/files.test.ts` runs more. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FileRun } from './file-round.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 3)
let run: FileRun

beforeAll(async () => {
  run = await FileRun.start({ seed: Date.now() % 1_000_000 })
}, 90_000)

afterAll(() => run?.end(), 60_000)

test(
  `[RC7] after ${rounds} kills during upload, completion and reclaim every acknowledged file is there, and rows, bytes and counts agree`,
  { timeout: 120_000 + rounds * 30_000 },
  async () => {
    for (let n = 0; n < rounds; n++) await run.round()
    expect(await run.check(), run.output).toEqual([])
    const { figures } = run
    expect(figures.acknowledged, JSON.stringify(figures)).toBeGreaterThan(rounds * 3)
    expect(figures.brokenOff).toBeGreaterThan(0)
    expect(figures.condemned).toBeGreaterThan(0)
    expect(figures.cleared).toBeGreaterThan(0)
  },
)
