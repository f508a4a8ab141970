import type { Logger } from '../platform/log.ts'

export interface Loop {
  stop(): Promise<void>
}

/** Runs `work` at once and then again and again, `intervalMs` after the end of the run before. A failure is logged and tried again. */
export function startLoop(name: string, intervalMs: number, log: Logger, work: () => Promise<void>): Loop {
  let stopped = false
  let timer: NodeJS.Timeout | null = null
  let running = Promise.resolve()
  const tick = () => {
    running = work()
      .catch((error: unknown) => log.warn({ err: error, worker: name }, 'a worker failed; it will try again'))
      .finally(() => {
        if (!stopped) timer = setTimeout(tick, intervalMs)
      })
  }
  tick()
  return {
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      await running
    },
  }
}
