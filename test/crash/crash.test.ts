/** Runs a crash round of each kind. `npm run crash -- --rounds 200` runs more. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrashRun, kills } from './round.ts'

const rounds = Number(process.env['CRASH_ROUNDS'] ?? Object.keys(kills).length)
let run: CrashRun

beforeAll(async () => {
  run = await CrashRun.start({ seed: Date.now() % 1_000_000 })
}, 90_000)

afterAll(() => run?.end())

test(
  `[K1] [K2] [K3] [K4] after ${rounds} kills under load everything acknowledged is there once, and the index equals the documents`,
  { timeout: 60_000 + rounds * 60_000 },
  async () => {
    for (let n = 0; n < rounds; n++) {
      const { kill, faults } = await run.round()
      expect(faults, `${kill}\n${run.output}`).toEqual([])
    }
    expect(await run.checkAll()).toEqual([])
    const { acknowledged, written } = run.figures
    expect(Math.min(acknowledged, written)).toBeGreaterThan(rounds * 20)
  },
)
