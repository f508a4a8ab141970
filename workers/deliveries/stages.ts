import type { Stage, Transitions } from './delivery.ts'

/** Counts the claimed deliveries of this process by stage. `move` takes only the transitions of delivery.ts. */
export class Stages {
  readonly #counts: Record<Stage, number> = { held: 0, underWay: 0, unrecorded: 0, returning: 0 }
  readonly #waiting: (() => void)[] = []

  get held(): number {
    return this.#counts.held
  }

  get underWay(): number {
    return this.#counts.underWay
  }

  /** Deliveries that are sent or being sent, without a recorded outcome. */
  get sent(): number {
    return this.#counts.underWay + this.#counts.unrecorded
  }

  /** Deliveries that a stop waits for. */
  get open(): number {
    return this.sent + this.#counts.returning
  }

  move<From extends keyof Transitions>(from: From, to: Transitions[From], count = 1): void {
    const [before, after]: [keyof Transitions, Stage | 'over'] = [from, to]
    if (before !== 'claimed') this.#counts[before] -= count
    if (after !== 'over') this.#counts[after] += count
    if (this.open === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves as soon as nothing is open. */
  async nothingOpen(): Promise<void> {
    if (this.open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
