/** Fails a test in which one turn of the event loop used too much CPU time. */
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { measureTurns, type Turns } from './turn-meter.ts'

/** The process to measure: this one by default, or that of a service. */
export interface TurnSource {
  reset(): void | Promise<void>
  read(): Turns | Promise<Turns>
}

/**
 * Applies the limit to every test of the calling file or `describe`. It measures CPU time of the main thread and not
 * elapsed time, so that no test fails on a busy machine. Work of the test itself in this process counts, too.
 */
export function failOnLongTurn(boundMs: number, source?: TurnSource): void {
  const own = source ? null : measureTurns()
  const turns = source ?? own!
  beforeEach(() => turns.reset())
  afterEach(async () => {
    if (own) await new Promise((resolve) => setTimeout(resolve, 10))
    const { longestCpuMs } = await turns.read()
    expect(
      longestCpuMs,
      `one turn of the event loop used ${Math.round(longestCpuMs)} ms of CPU time; ${boundMs} ms are allowed`,
    ).toBeLessThanOrEqual(boundMs)
  })
  afterAll(() => own?.[Symbol.dispose]())
}
