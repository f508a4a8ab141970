/**
 * Measures the turns of an event loop. A turn is the time between two calls of a timer. The timer's interval counts for
 * the CPU time, but not for the delay.
 */
import { readFileSync } from 'node:fs'
import { hrtime, pid, threadCpuUsage } from 'node:process'

export interface Turns {
  /** The longest elapsed time in which the loop called no timer. */
  longestDelayMs: number
  /** The most CPU time that this thread used in one turn. A busy machine does not add to it. */
  longestCpuMs: number
}

const intervalMs = 5
/** If a turn takes longer than this, it is also measured before it ends. */
const standsMs = 100
const field = { delayMs: 0, cpuMs: 1, calledAtMs: 2, resetAtMs: 3, calledAtCpuMs: 4 } as const

/** Returns a time in ms that all threads of a process can compare. */
const nowMs = () => Number(hrtime.bigint()) / 1e6

function cpuMs(): number {
  const { user, system } = threadCpuUsage()
  return (user + system) / 1000
}

/** Returns the CPU time of the main thread from any other thread, in steps of 10 ms. Works only on Linux. */
function mainThreadCpuMs(): number {
  if (process.platform !== 'linux') return 0
  const fields = readFileSync(`/proc/self/task/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** The figures of a thread, in shared memory. Other threads can read them while the event loop is blocked. */
export class TurnFigures {
  readonly memory: SharedArrayBuffer
  readonly #values: Float64Array

  constructor(memory = new SharedArrayBuffer(5 * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#values = new Float64Array(memory)
  }

  reset(): void {
    this.#values[field.delayMs] = 0
    this.#values[field.cpuMs] = 0
    this.#values[field.resetAtMs] = nowMs()
  }

  /** The turn that has not ended yet counts as well. */
  read(): Turns {
    const [delayMs = 0, longestCpuMs = 0, calledAtMs = 0, resetAtMs = 0, calledAtCpuMs = 0] = this.#values
    const elapsedMs = nowMs() - Math.max(calledAtMs, resetAtMs)
    const unfinishedCpuMs = elapsedMs > standsMs ? Math.min(mainThreadCpuMs() - calledAtCpuMs, elapsedMs) : 0
    return {
      longestDelayMs: Math.max(delayMs, elapsedMs - intervalMs),
      longestCpuMs: Math.max(longestCpuMs, unfinishedCpuMs),
    }
  }

  /** Called by the thread that is measured, at the end of a turn. */
  record(): void {
    const values = this.#values
    const elapsedMs = nowMs() - Math.max(values[field.calledAtMs]!, values[field.resetAtMs]!)
    const nowCpuMs = cpuMs()
    const usedMs = Math.min(nowCpuMs - values[field.calledAtCpuMs]!, elapsedMs)
    values[field.delayMs] = Math.max(values[field.delayMs]!, elapsedMs - intervalMs)
    values[field.cpuMs] = Math.max(values[field.cpuMs]!, usedMs)
    values[field.calledAtCpuMs] = nowCpuMs
    values[field.calledAtMs] = nowMs()
  }
}

/** Measures the calling thread from now on. The meter does not keep the process alive. */
export function measureTurns(): TurnFigures & Disposable {
  const figures = new TurnFigures()
  figures.record()
  figures.reset()
  const timer = setInterval(() => figures.record(), intervalMs)
  timer.unref()
  return Object.assign(figures, { [Symbol.dispose]: () => clearInterval(timer) })
}
