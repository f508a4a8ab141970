/** A value that changes, in the form that React's `useSyncExternalStore` takes. */
export interface Store<T> {
  /** Returns the same object until the value changes. */
  readonly get: () => T
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: () => void) => () => void
}

/** A store that computes its value when it is read for the first time after `changed()`. */
export class DerivedStore<T> implements Store<T> {
  readonly #compute: () => T
  readonly #listeners = new Set<() => void>()
  #value: { is: T } | null = null

  constructor(compute: () => T) {
    this.#compute = compute
  }

  readonly get = (): T => (this.#value ??= { is: this.#compute() }).is

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  changed(): void {
    this.#value = null
    for (const listener of this.#listeners) listener()
  }
}
