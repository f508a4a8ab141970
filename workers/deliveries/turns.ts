import { setTimeout as delay } from 'node:timers/promises'

/** What goes one after the other, in the order in which it asked. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve()

  /** Runs `work` when all that asked before has ended; with `withinMs`, by then in any case. */
  async take<Result>(work: () => Result | Promise<Result>, withinMs?: number): Promise<Result> {
    const before = this.last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.last = Promise.all([before, promise])
    try {
      await (withinMs === undefined ? before : Promise.race([before, delay(withinMs)]))
      return await work()
    } finally {
      resolve()
    }
  }
}
