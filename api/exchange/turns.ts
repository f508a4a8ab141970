/** So many at a time under each name, such as an account; who comes later waits for a turn. */
export class Turns {
  readonly #atOnce: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** @returns what ends the turn, calling it again does nothing; null when the turn did not come in time */
  async take(name: string, waitMs = Infinity): Promise<(() => void) | null> {
    const taken = this.#taken.get(name) ?? 0
    if (taken < this.#atOnce) this.#taken.set(name, taken + 1)
    else if (!(await this.#wait(name, waitMs))) return null
    let ended = false
    return () => {
      if (!ended) this.#pass(name)
      ended = true
    }
  }

  #wait(name: string, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(name) ?? new Set()
      this.#waiting.set(name, queue)
      const called = () => {
        clearTimeout(timer)
        resolve(true)
      }
      const timer = Number.isFinite(waitMs)
        ? setTimeout(() => {
            this.#leave(name, called)
            resolve(false)
          }, waitMs)
        : undefined
      queue.add(called)
    })
  }

  #leave(name: string, called: () => void): void {
    const queue = this.#waiting.get(name)
    queue?.delete(called)
    if (queue?.size === 0) this.#waiting.delete(name)
  }

  /** The turn goes to who waits longest, or is free. */
  #pass(name: string): void {
    const [next] = this.#waiting.get(name) ?? []
    if (next) {
      this.#leave(name, next)
      return next()
    }
    const left = (this.#taken.get(name) ?? 1) - 1
    if (left > 0) this.#taken.set(name, left)
    else this.#taken.delete(name)
  }
}
