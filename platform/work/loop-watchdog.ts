/**
 * Logs each time the event loop was blocked. During that time the process reads and answers nothing. Marks tell which
 * work ran. They are set where work begins: a request, a frame, a commit, or a round of a background loop.
 */
import type { Logger } from '../log.ts'

/** The last marks: name of the work, and its time (`performance.now()`). */
const names: string[] = Array.from({ length: 32 }, () => '')
const times = new Float64Array(names.length)
let next = 0

/** Records that work with this name begins or continues. `name` is for people and contains no ids. */
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

/** Interval of the checks. */
const lookMs = 50

export class LoopWatchdog {
  readonly #options: LoopWatchdogOptions
  #timer: NodeJS.Timeout | null = null
  /** The logged stalls. */
  readonly stalls = { count: 0, seconds: 0 }

  constructor(options: LoopWatchdogOptions) {
    this.#options = options
  }

  /** Call it when the process begins to serve: it may compile for longer before that, and nobody waits. */
  start(): void {
    const { log, stallMs = 200 } = this.#options
    let lookedAt = performance.now()
    let cpu = process.threadCpuUsage()
    this.#timer = setInterval(() => {
      const now = performance.now()
      const stalledMs = now - lookedAt - lookMs
      const used = process.threadCpuUsage()
      if (stalledMs > stallMs) {
        this.stalls.count += 1
        this.stalls.seconds += stalledMs / 1000
        log.warn(
          {
            stalledMs: Math.round(stalledMs),
            // If this is far below the stall, the process was paused or had no core.
            cpuMs: Math.round((used.user + used.system - cpu.user - cpu.system) / 1000),
            operations: markedSince(lookedAt),
          },
          'the event loop was blocked',
        )
      }
      lookedAt = now
      cpu = used
    }, lookMs).unref()
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer)
  }
}

/**
 * @returns the names of the marks since `time` and of the last mark before it, whose work may still run; latest first
 */
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
