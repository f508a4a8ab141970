import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ObjectStore } from '../../platform/storage/object-store.ts'

const smallBytes = 1024 * 1024
const smallAtOnce = 8

/** Stores files. Small ones are stored several at once: a bucket answers slowly, but many requests at a time. */
export class FileWriter {
  readonly #store: ObjectStore
  readonly #running = new Set<Promise<unknown>>()
  #fault: Error | null = null

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /** @throws the error of this file, or of one before */
  async write(key: string, bytes: number, body: AsyncIterable<Buffer>): Promise<void> {
    if (bytes > smallBytes) return this.#put(key, bytes, Readable.from(body))
    const small = await buffer(body)
    while (this.#running.size >= smallAtOnce) await Promise.race(this.#running)
    if (this.#fault) throw this.#fault
    const putting = this.#put(key, bytes, Readable.from([small]))
      .catch((error: Error) => {
        this.#fault ??= error
      })
      .finally(() => this.#running.delete(putting))
    this.#running.add(putting)
  }

  /** Waits until all files are stored. */
  async end(): Promise<void> {
    await Promise.all(this.#running)
    if (this.#fault) throw this.#fault
  }

  async #put(key: string, bytes: number, body: Readable): Promise<void> {
    try {
      await this.#store.put(key, body, { bytes, contentType: 'application/octet-stream' })
    } catch (error) {
      const { cause = error } = error as Error
      const why = (cause as Error).message
      throw new Error(
        `The file ${key} could not be stored: ${why}. Check the file store and its free space, and restore again. The database is still empty.`,
        { cause: error },
      )
    }
  }
}
