/**
 * Measures CPU time of the main thread, in milliseconds of the reference machine. Other processes don't count, and a
 * machine that is half as fast counts half. So a limit holds for the code and not for the machine.
 */
import type { Steps } from '../../platform/work/loop-turn.ts'

/**
 * What `referenceWork` takes on the machine for which the limits were chosen. Measured side by side, over a minute in which
 * a machine became slower and faster: sanitising a text took 23 ms when this took 6, and 40 ms when it took 10 or 11.
 */
const referenceMs = 6
const pieces = 10
/** What takes less is far below each limit, so the speed of the machine does not matter. */
const fastMs = 10

/** What tests measure most: maps, objects, texts and JSON. */
function referenceWork(): number {
  const entries = new Map<string, object>()
  for (let n = 0; n < 10_000; n++) entries.set(`key ${(n * 7919) % 5000}`, { n, text: 'x' })
  return (JSON.parse(JSON.stringify([...entries])) as unknown[]).length
}

function usedMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

function leastMs(runs: number, work: () => unknown, enoughMs = 0): number {
  let least = Infinity
  for (let run = 0; run < runs && least > enoughMs; run++) {
    const before = process.threadCpuUsage()
    work()
    least = Math.min(least, usedMs(before))
  }
  return least
}

/**
 * How many times as long as the reference machine this one takes now. A faster machine counts as 1. Linux may count CPU
 * time in steps of 4 ms, so one piece of the work says little.
 */
function slowness(): number {
  const before = process.threadCpuUsage()
  for (let n = 0; n < pieces; n++) referenceWork()
  return Math.max(1, usedMs(before) / pieces / referenceMs)
}

/** Converts CPU time that was measured just now. */
export const ofReference = (ms: number): number => (ms <= fastMs ? ms : ms / slowness())

/**
 * Returns the CPU time of a synchronous step. It is the minimum of up to ten runs, so that compilation and garbage
 * collection don't count. A run that is fast enough ends the measurement.
 */
export const mainThreadMs = (step: () => unknown, enoughMs = fastMs): number =>
  ofReference(leastMs(10, step, enoughMs))

/** Returns the CPU time of `work`, run once. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  return ofReference(usedMs(before))
}

/** Returns the most CPU time of one turn of the event loop during `work`. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let done = false
  let before = process.threadCpuUsage()
  const look = () => {
    longest = Math.max(longest, usedMs(before))
    before = process.threadCpuUsage()
    if (!done) setImmediate(look)
  }
  setImmediate(look)
  try {
    await work()
  } finally {
    done = true
  }
  await new Promise(setImmediate)
  return ofReference(longest)
}

/**
 * The same in the best of up to three runs, so that compilation and garbage collection don't count. A run that is fast
 * enough ends the measurement.
 */
export async function bestTurnMs(enoughMs: number, work: () => Promise<unknown>): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 3 && least > enoughMs; run++) {
    globalThis.gc?.() // what was left before is not collected in a turn of this run
    least = Math.min(least, await longestTurnMs(work))
  }
  return least
}

/** Returns the most CPU time that one step takes, in the best of three runs. */
export const longestStepMs = (begin: () => Steps<unknown>): number =>
  Math.min(...[0, 1, 2].map(() => longestMs(begin())))

/** Returns the most CPU time that one of these steps takes. */
export function longestMs(steps: Steps<unknown>): number {
  let longest = 0
  for (let done = false; !done;) {
    const before = process.threadCpuUsage()
    done = steps.next().done === true
    longest = Math.max(longest, usedMs(before))
  }
  return ofReference(longest)
}
