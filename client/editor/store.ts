/** A value that changes, as `useSyncExternalStore` of React wants it: `get` returns the same object until it does. */
export interface Store<T> {
  readonly get: () => T
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: () => void) => () => void
}

/** A store whose value is computed when it is read the next time after `changed()`. */
export class DerivedStore<T> implements Store<T> {
  readonly #compute: (before: T | undefined) => T
  readonly #listeners = new Set<() => void>()
  #value: T | undefined
  #isOld = true

  /** @param compute may return the value before, when nothing has changed */
  constructor(compute: (before: T | undefined) => T) {
    this.#compute = compute
  }

  readonly get = (): T => {
    if (this.#isOld) this.#value = this.#compute(this.#value)
    this.#isOld = false
    return this.#value as T
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  changed(): void {
    this.#isOld = true
    for (const listener of this.#listeners) listener()
  }
}

/** Resolves as soon as a store's value passes. @throws the signal's reason */
export function until<T>(store: Store<T>, passes: (value: T) => boolean, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const check = () => {
      const value = store.get()
      if (!passes(value)) return
      end()
      resolve(value)
    }
    const stop = () => {
      end()
      reject(signal!.reason as Error)
    }
    const unsubscribe = store.subscribe(check)
    const end = () => {
      unsubscribe()
      signal?.removeEventListener('abort', stop)
    }
    signal?.addEventListener('abort', stop, { once: true })
    check()
  })
}
