/** Reports each call of a store, with its duration and outcome. */
import { ServiceError } from '../../core/errors.ts'
import type { ObjectStore } from './object-store.ts'

export interface StorageCall {
  name: string
  /** `failed`: the store failed. `aborted`: the call ended for another reason, such as an upload that broke off. */
  result: 'done' | 'failed' | 'aborted'
  /** Until the first byte for `get`, and with the transfer of the body for `put`. */
  durationMs: number
}

export function meteredStore(store: ObjectStore, onCall: (call: StorageCall) => void): ObjectStore {
  const begin = (name: string) => {
    const startedAt = performance.now()
    return (result: StorageCall['result']) =>
      onCall({ name, result, durationMs: performance.now() - startedAt })
  }
  async function metered<T>(name: string, work: () => Promise<T>): Promise<T> {
    const end = begin(name)
    try {
      const value = await work()
      end('done')
      return value
    } catch (error) {
      end(resultOf(error))
      throw error
    }
  }
  return {
    check: () => store.check(),
    put: (key, body, options) => metered('put', () => store.put(key, body, options)),
    head: (key) => metered('head', () => store.head(key)),
    get: (key, range) => metered('get', () => store.get(key, range)),
    remove: (keys) => metered('remove', () => store.remove(keys)),
    async *list() {
      const end = begin('list')
      let result: StorageCall['result'] = 'aborted'
      try {
        yield* store.list()
        result = 'done'
      } catch (error) {
        result = resultOf(error)
        throw error
      } finally {
        end(result)
      }
    },
    beginMultipart: (key, contentType) =>
      metered('beginMultipart', () => store.beginMultipart(key, contentType)),
    signParts: (...given) => metered('signParts', () => store.signParts(...given)),
    complete: (...given) => metered('complete', () => store.complete(...given)),
    tidy: () => metered('tidy', () => store.tidy()),
    abort: (key, uploadId) => metered('abort', () => store.abort(key, uploadId)),
  }
}

const resultOf = (error: unknown): 'failed' | 'aborted' =>
  error instanceof ServiceError && error.code === 'storage_unavailable' ? 'failed' : 'aborted'
