/** The main-thread CPU of single steps: what ran between two looks at the event loop. */

export interface StepWatch {
  /** The most CPU that one turn of the loop took since the watch began, in milliseconds. */
  longestMs(): number
  stop(): void
}

/** Measures each turn of the loop. By CPU, so that a busy machine makes no difference. */
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

/** CPU of the main thread, in milliseconds. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const used = process.threadCpuUsage(before)
  return (used.user + used.system) / 1000
}
