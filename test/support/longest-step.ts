/** Measures the CPU time of single turns of the event loop on the main thread. */

export interface StepWatch {
  /** The most CPU time of one turn since the measurement began, in milliseconds. */
  longestMs(): number
  stop(): void
}

/** Measures each turn of the loop. CPU time does not depend on other processes of the machine. */
export function watchSteps(): StepWatch {
  let longest = 0
  let running = true
  let before = process.threadCpuUsage()
  const look = () => {
    const used = process.threadCpuUsage(before)
    longest = Math.max(longest, (used.user + used.system) / 1000)
    before = process.threadCpuUsage()
    if (running) setImmediate(look)
  }
  setImmediate(look)
  return { longestMs: () => longest, stop: () => (running = false) }
}

/** Returns the CPU time of the main thread, in milliseconds. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const used = process.threadCpuUsage(before)
  return (used.user + used.system) / 1000
}
