/** Latencies in milliseconds, in one growing array, so that recording makes no garbage. */
export class Latencies {
  private values = new Float64Array(1 << 16)
  private size = 0

  get count(): number {
    return this.size
  }

  record(latencyMs: number): void {
    if (this.size === this.values.length) {
      const larger = new Float64Array(this.size * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.size++] = latencyMs
  }

  clear(): void {
    this.size = 0
  }

  /** `fraction` between 0 and 1. NaN when nothing was recorded. */
  percentile(fraction: number): number {
    const sorted = this.values.slice(0, this.size).sort()
    return sorted[Math.min(this.size - 1, Math.floor(this.size * fraction))] ?? Number.NaN
  }
}
