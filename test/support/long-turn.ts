/** Fails a test in which one turn of the event loop used too much CPU time. */
import { afterAll, afterEach, beforeEach, expect } from 'vitest'
import { measureTurns, type Turns } from './turn-meter.ts'

/** Whose turns are measured: this process' by default, or those of a service that runs in another one. */
export interface TurnSource {
  reset(): void | Promise<void>
  read(): Turns | Promise<Turns>
}

/**
 * Holds every test of the calling file or `describe` to the bound. It is CPU time of the main thread and not time on the
 * clock, so that a busy machine fails no test. What a test does itself in this process counts, too.
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
