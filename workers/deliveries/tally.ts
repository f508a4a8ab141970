/** Counts what is not finished. */
export class Tally {
  count = 0
  private readonly waiting: (() => void)[] = []

  add(): void {
    this.count += 1
  }

  end(count = 1): void {
    this.count -= count
    if (this.count === 0) for (const resolve of this.waiting.splice(0)) resolve()
  }

  /** Resolves as soon as nothing is left. */
  async empty(): Promise<void> {
    if (this.count > 0) await new Promise<void>((resolve) => this.waiting.push(resolve))
  }
}
