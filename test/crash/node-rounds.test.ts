/**
 * Runs three rounds and a rolling restart on three nodes. `npm run crash -- --nodes 3 --rounds 100` runs more, with
 * longer pauses.
 */
import { expect, onTestFinished, test } from 'vitest'
import { NodeRun, type NodeRunOptions } from './node-round.ts'

const only = ['kill one', 'pause', 'postgres cut'] as const

async function start(options: Omit<NodeRunOptions, 'seed' | 'nodes' | 'maxPauseMs'>): Promise<NodeRun> {
  const run = await NodeRun.start({ seed: Date.now() % 1_000_000, nodes: 3, maxPauseMs: 5000, ...options })
  onTestFinished(() => run.end(), 60_000)
  return run
}

test(
  '[NR1] on three nodes behind HAProxy, after a kill, a pause and a cut under load everything acknowledged is there once, every `live: true` was true, all editors see each other, and every event was delivered once',
  { timeout: 400_000 },
  async () => {
    const run = await start({ only })
    for (const fault of only) {
      const { faults } = await run.round()
      expect(faults, `${fault}\n${run.output}`).toEqual([])
    }
    expect(await run.checkAll()).toEqual([])
    const { acknowledged, written, canvasesHeld, events } = run.figures
    expect(Math.min(acknowledged, written, canvasesHeld, events)).toBeGreaterThan(50)
  },
)

/** Slow enough that the machine is not the bottleneck, with editors that reconnect as stock providers do. */
const pace = { pauseMs: 100, requestPauseMs: 100, stockDelays: true }

test(
  '[NR2] a rolling restart behind HAProxy under load fails no request, loses no edit, and keeps no editor away for longer than three seconds',
  { timeout: 200_000 },
  async () => {
    const run = await start({ only: ['rolling restart'], pace, pastBalancer: false })
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
