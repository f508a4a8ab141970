/** Runs three rounds on three nodes. `npm run crash -- --nodes 3 --rounds 100` runs more, with longer pauses. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NodeRun } from './node-round.ts'

const only = ['kill one', 'pause', 'postgres cut'] as const
let run: NodeRun

beforeAll(async () => {
  run = await NodeRun.start({ seed: Date.now() % 1_000_000, nodes: 3, maxPauseMs: 5000, only })
}, 120_000)

afterAll(() => run?.end(), 60_000)

test(
  '[NR1] on three nodes, after a kill, a pause and a cut under load everything acknowledged is there once, every `live: true` was true, and all editors see each other',
  { timeout: 300_000 },
  async () => {
    for (const fault of only) {
      const { faults } = await run.round()
      expect(faults, `${fault}\n${run.output}`).toEqual([])
    }
    expect(await run.checkAll()).toEqual([])
    const { acknowledged, written, canvasesHeld } = run.figures
    expect(Math.min(acknowledged, written, canvasesHeld)).toBeGreaterThan(50)
  },
)
