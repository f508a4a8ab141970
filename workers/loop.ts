import type { Logger } from '../platform/log.ts'
import { mark } from '../platform/work/loop-watchdog.ts'

export interface Loop {
  stop(): Promise<void>
}

export interface WakingLoop extends Loop {
  /** Runs the work soon: at once, or after the run that is in progress. */
  wake(): void
}

/**
 * Runs `work` at once, and again `intervalMs` after each run has ended. A failed run is logged; the next one tries again.
 * Long work has to end early when `stopping` is aborted.
 */
export function startLoop(
  name: string,
  intervalMs: number,
  log: Logger,
  work: (stopping: AbortSignal) => Promise<void>,
): WakingLoop {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let running = Promise.resolve()
  let wanted = false
  const tick = () => {
    mark(name)
    timer = null
    wanted = false
    running = work(stopping.signal)
      .catch((error: unknown) => log.warn({ err: error, worker: name }, 'a worker failed; it will try again'))
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(tick, wanted ? 0 : intervalMs)
      })
  }
  tick()
  return {
    wake() {
      wanted = true
      if (!timer || stopping.signal.aborted) return
      clearTimeout(timer)
      tick()
    },
    async stop() {
      stopping.abort()
      if (timer) clearTimeout(timer)
      await running
    },
  }
}

/** A signal that is never aborted, for work that runs once, to its end. */
export const never: AbortSignal = new AbortController().signal
