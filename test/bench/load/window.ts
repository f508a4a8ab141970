import { Latencies } from './latencies.ts'
import type { Throughput } from './jobs.ts'

const warmUpShare = 0.25
const stallMs = 15_000

/**
 * The measured time of a closed loop. It follows a warm-up of a quarter of its length. Rejects `stalled` when nothing
 * completes for 15 seconds.
 */
export class MeasuredWindow {
  readonly stalled: Promise<never>
  private readonly startMs: number
  private readonly endMs: number
  private readonly latencies = new Latencies()
  private cpuAtStart: NodeJS.CpuUsage | null = null
  private loadBusy = 0
  private lastDoneMs = performance.now()
  private readonly watchdog: NodeJS.Timeout

  constructor(seconds: number) {
    this.startMs = this.lastDoneMs + seconds * warmUpShare * 1_000
    this.endMs = this.startMs + seconds * 1_000
    const stalled = Promise.withResolvers<never>()
    stalled.promise.catch(() => {})
    this.stalled = stalled.promise
    this.watchdog = setInterval(() => {
      if (performance.now() - this.lastDoneMs > stallMs) {
        stalled.reject(new Error(`nothing was done for ${stallMs / 1_000} s`))
      }
    }, 1_000)
  }

  /** Returns whether the loop should go on. */
  done(sentMs: number, nowMs: number): boolean {
    this.lastDoneMs = nowMs
    if (nowMs < this.startMs) return true
    this.cpuAtStart ??= process.cpuUsage()
    if (nowMs < this.endMs) {
      this.latencies.record(nowMs - sentMs)
      return true
    }
    if (this.loadBusy === 0) {
      const cpu = process.cpuUsage(this.cpuAtStart)
      this.loadBusy = (cpu.user + cpu.system) / 1_000 / (nowMs - this.startMs)
    }
    return false
  }

  /** Stops watching for a stall. */
  close(): void {
    clearInterval(this.watchdog)
  }

  result(): Throughput {
    return {
      perSecond: (this.latencies.count / (this.endMs - this.startMs)) * 1_000,
      p50Ms: this.latencies.percentile(0.5),
      p99Ms: this.latencies.percentile(0.99),
      loadBusy: this.loadBusy,
    }
  }
}
