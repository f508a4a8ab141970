/** Measures CPU time of the main thread. It does not depend on other processes of the machine. */
import type { Steps } from '../../platform/work/loop-turn.ts'

const cpuMs = (since?: NodeJS.CpuUsage) => {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/**
 * Returns the CPU time of a synchronous step in ms. It is the minimum of up to ten runs, so that compilation and
 * garbage collection don't count. A run that is fast enough ends the measurement.
 */
export function mainThreadMs(step: () => unknown, fastMs = 10): number {
  let least = Infinity
  for (let run = 0; run < 10 && least > fastMs; run++) {
    const before = process.threadCpuUsage()
    step()
    least = Math.min(least, cpuMs(before))
  }
  return least
}

/** Returns the most CPU time in ms of one turn of the event loop during `work`. */
export async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let done = false
  let before = process.threadCpuUsage()
  const look = () => {
    longest = Math.max(longest, cpuMs(before))
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
  return longest
}

/** Returns the most CPU time in ms that one step takes, in the best of three runs. */
export const longestStepMs = (begin: () => Steps<unknown>): number =>
  Math.min(...[0, 1, 2].map(() => longestMs(begin())))

/** Returns the most CPU time in ms that one of these steps takes. */
export function longestMs(steps: Steps<unknown>): number {
  let longest = 0
  for (let done = false; !done;) {
    const before = process.threadCpuUsage()
    done = steps.next().done === true
    longest = Math.max(longest, cpuMs(before))
  }
  return longest
}
