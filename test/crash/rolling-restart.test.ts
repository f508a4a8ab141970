/** Restarts three nodes one after the other, behind HAProxy and under load. */
import { expect, onTestFinished, test } from 'vitest'
import { NodeRun } from './node-round.ts'

/** Slow enough that the machine is not the bottleneck, with editors that reconnect as stock providers do. */
const pace = { pauseMs: 100, requestPauseMs: 100, stockDelays: true }

test(
  '[NR2] a rolling restart behind HAProxy under load fails no request, loses no edit, and keeps no editor away for longer than three seconds',
  { timeout: 200_000 },
  async () => {
    const run = await NodeRun.start({
      ...{ seed: Date.now() % 1_000_000, nodes: 3, maxPauseMs: 5000 },
      ...{ only: ['rolling restart'], pace, pastBalancer: false },
    })
    onTestFinished(() => run.end(), 60_000)
    const { faults } = await run.round()
    expect([...faults, ...(await run.checkAll())], run.output).toEqual([])
    const { acknowledged, written, unanswered, longestAwayMs, slowestMs } = run.figures
    expect(Math.min(acknowledged, written)).toBeGreaterThan(50)
    expect(unanswered).toBe(0)
    expect(longestAwayMs).toBeGreaterThan(0)
    // A machine that is busy otherwise delays an editor as it delays the slowest request.
    expect(longestAwayMs - slowestMs).toBeLessThan(3000)
  },
)
