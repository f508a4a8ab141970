/** CPU time of the main thread, which other processes of a busy machine don't change. */

const cpuMs = (since?: NodeJS.CpuUsage) => {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}

/**
 * Returns the CPU time of a synchronous step in ms: the least of up to ten runs, so that compiling and collecting
 * garbage don't count. A run that is fast enough ends it.
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

/** Returns the most CPU time in ms that one turn of the event loop took while `work` was under way. */
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
