import { expect, onTestFinished, test } from 'vitest'
import { LoopWatchdog, mark } from '../../platform/work/loop-watchdog.ts'
import { until } from '../support/editor.ts'
import { spin } from '../support/worker-tasks.ts'

test('[WK4] a stall while the service runs is logged with its length, its CPU time and what ran', async () => {
  const lines: { fields: Record<string, unknown>; message: string }[] = []
  const keep = (fields: object, message: string) => void lines.push({ fields: { ...fields }, message })
  const watchdog = new LoopWatchdog({
    log: { info: keep, warn: keep, error: keep, debug: keep },
    stallMs: 200,
  })
  onTestFinished(() => watchdog.stop())
  spin(500)
  watchdog.start()
  await new Promise((resolve) => setTimeout(resolve, 120))
  expect(lines).toEqual([])
  mark('GET /boards')
  mark('commit')
  spin(500)
  await until(() => lines.length > 0, 'the stall is logged')
  expect(lines[0]).toMatchObject({ message: 'the event loop was blocked' })
  const { stalledMs, cpuMs, operations } = lines[0]!.fields as {
    stalledMs: number
    cpuMs: number
    operations: string[]
  }
  expect(stalledMs).toBeGreaterThanOrEqual(400)
  expect(cpuMs).toBeGreaterThan(0)
  expect(operations.slice(0, 2)).toEqual(['commit', 'GET /boards'])
})
