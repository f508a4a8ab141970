/** Resolves after a time. @throws the signal's reason as soon as it is aborted */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const done = () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(done, ms)
    const stop = () => {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Milliseconds before the next attempt: up to 250 after the first one, then twice as many each time, up to 10 s. */
export const backoffMs = (attempt: number): number =>
  (0.5 + Math.random() / 2) * Math.min(10_000, 250 * 2 ** (attempt - 1))
