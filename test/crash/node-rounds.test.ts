/** Runs three rounds on three nodes. `npm run crash -- --nodes 3 --rounds 100` runs more, with longer pauses. */
import { expect, onTestFinished, test } from 'vitest'
import { NodeRun } from './node-round.ts'

const only = ['kill one', 'pause', 'postgres cut'] as const
/** At full speed three nodes would take all of the machine, and the tests beside this one would wait for it. */
const pace = { pauseMs: 40, requestPauseMs: 40, stockDelays: false }

test(
  '[NR1] on three nodes behind HAProxy, after a kill, a pause and a cut under load everything acknowledged is there once, every `live: true` was true, all editors see each other, and every event was delivered once',
  { timeout: 400_000 },
  async () => {
    const run = await NodeRun.start({ seed: Date.now() % 1_000_000, nodes: 3, maxPauseMs: 5000, only, pace })
    onTestFinished(() => run.end(), 60_000)
    for (const fault of only) {
      const { faults } = await run.round()
      expect(faults, `${fault}\n${run.output}`).toEqual([])
    }
    expect(await run.checkAll()).toEqual([])
    const { acknowledged, written, canvasesHeld, events } = run.figures
    expect(Math.min(acknowledged, written, canvasesHeld, events)).toBeGreaterThan(50)
  },
)
