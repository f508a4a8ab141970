/** Merges logs in a thread of its own, which ends when there is nothing to merge for a while. */
import { Worker } from 'node:worker_threads'
import type { MergeAnswer, MergeRequest } from './merge-worker.ts'

const idleMs = 10_000

export class Merger {
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #last: Promise<unknown> = Promise.resolve()

  /** One after the other. */
  merge(request: MergeRequest): Promise<Uint8Array> {
    const merging = this.#last.then(() => this.#merge(request))
    this.#last = merging.catch(() => undefined)
    return merging
  }

  async #merge(request: MergeRequest): Promise<Uint8Array> {
    if (this.#idle) clearTimeout(this.#idle)
    const worker = (this.#worker ??= new Worker(new URL('./merge-worker.ts', import.meta.url)))
    try {
      const answer = await answerOf(worker, request)
      if ('failed' in answer) throw new Error(answer.failed)
      return answer.merged
    } catch (error) {
      await this.close()
      throw error
    } finally {
      if (this.#worker) this.#idle = setTimeout(() => void this.close(), idleMs).unref()
    }
  }

  async close(): Promise<void> {
    if (this.#idle) clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }
}

function answerOf(worker: Worker, request: MergeRequest): Promise<MergeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<MergeAnswer>()
  const ended = (code: number) => reject(new Error(`the merging thread ended with ${code}`))
  worker.once('message', resolve).once('error', reject).once('exit', ended)
  worker.postMessage(request)
  return promise.finally(() => worker.off('message', resolve).off('error', reject).off('exit', ended))
}
