/**
 * Logs each time that the event loop stood still: nothing was read, answered or passed on meanwhile. What ran is told by
 * marks, which are set where work begins (a request, a frame, a commit, a round of a background loop).
 */
import type { Logger } from '../log.ts'

/** The last marks: what began, and when (`performance.now()`). */
const names: string[] = Array.from({ length: 32 }, () => '')
const times = new Float64Array(names.length)
let next = 0

/** Tells the watchdog that work of this name begins or goes on. `name` has no ids: it is for a person to read. */
export function mark(name: string): void {
  names[next] = name
  times[next] = performance.now()
  next = (next + 1) % names.length
}

export interface LoopWatchdogOptions {
  log: Logger
  /** Shorter stalls are not logged. */
  stallMs?: number
}

/** How often the loop is looked at. */
const lookMs = 50

export class LoopWatchdog {
  readonly #timer: NodeJS.Timeout
  /** The longest stall since the last call of `longestMs()`. */
  #longestMs = 0

  constructor({ log, stallMs = 200 }: LoopWatchdogOptions) {
    let lookedAt = performance.now()
    let cpu = process.threadCpuUsage()
    this.#timer = setInterval(() => {
      const now = performance.now()
      const stalledMs = now - lookedAt - lookMs
      const used = process.threadCpuUsage()
      this.#longestMs = Math.max(this.#longestMs, stalledMs)
      if (stalledMs > stallMs) {
        log.warn(
          {
            stalledMs: Math.round(stalledMs),
            // Far below the stall: the process was paused, or had no core.
            cpuMs: Math.round((used.user + used.system - cpu.user - cpu.system) / 1000),
            operations: markedSince(lookedAt),
          },
          'the event loop stood still',
        )
      }
      lookedAt = now
      cpu = used
    }, lookMs).unref()
  }

  /** @returns the longest stall in ms since this was last asked; 0 when there was none */
  longestMs(): number {
    const longest = this.#longestMs
    this.#longestMs = 0
    return longest
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** @returns each name once, the latest first: those since `time`, and the last one before it, which may still run */
function markedSince(time: number): string[] {
  const found = new Set<string>()
  for (let back = 1; back <= names.length; back += 1) {
    const at = (next - back + names.length) % names.length
    if (names[at] === '') break
    found.add(names[at]!)
    if (times[at]! < time) break
  }
  return [...found]
}
