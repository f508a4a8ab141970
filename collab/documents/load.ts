/**
 * Applies a log to a document without blocking other work. A small log is applied on the main thread, in one short
 * slice per turn. A larger one is first cut into parts in a worker thread. Threads and slices are shared
 * fairly between the accounts that own the boards' workspaces.
 */
import { setImmediate as immediate } from 'node:timers/promises'
import * as Y from 'yjs'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { mark } from '../../platform/work/loop-watchdog.ts'
import { task, TaskExceeded, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { smallUpdateBytes } from '../updates/cut.ts'
import { ownBuffers, type LogContent } from '../log/log.ts'
import type { cutLog } from '../log/cut-log.ts'
import type { encodeLog } from '../log/encode-log.ts'
import { metered, TurnOver, TooCostly, type Meter } from '../updates/meter.ts'

export interface ApplyLogOptions {
  /** The account that owns the board's workspace. */
  account: string
  origin: unknown
  /**
   * Called for an update that can't be applied completely. The other updates are still applied: a board that can't be
   * loaded would be lost.
   */
  failed(error: unknown): void
  /** Throws when the document may not become larger. Called before and after each slice. */
  requireRoom?(): void
  /** Buffers of the log to transfer to a thread instead of copying. Nobody else may use them: see `ownBuffers`. */
  transfer?: ArrayBuffer[]
}

const cutTask = task<typeof cutLog>(new URL('../log/cut-log.ts', import.meta.url), 'cutLog')
const encodeTask = task<typeof encodeLog>(new URL('../log/encode-log.ts', import.meta.url), 'encodeLog')

/** A log of more bytes waits for its turn before it is read. */
export const largeLogBytes = 1024 * 1024
/** A log up to this size, with at most `smallStructs`, is applied without a worker thread. */
const smallLogBytes = 256 * 1024
/** Limits the structs of a small snapshot: few bytes may encode many structs. */
const smallStructs = 20_000
const sliceMs = 6

export interface LoadBounds {
  /** Timeout for cutting a log in a worker thread. 16 MB take 1.2 s. */
  cutMs: number
  /** Steps that integrating the items of a log may take (meter.ts). */
  maxLoadSteps: number
}

const defaultBounds: LoadBounds = { cutMs: 20_000, maxLoadSteps: 100_000_000 }

export class LogLoader {
  readonly #pool: WorkerPool
  readonly #bounds: LoadBounds
  /** Documents that are being loaded, or wait for it. */
  readonly slices = new FairQueue({ atOnce: 1, waiting: 10_000, waitingPerAccount: 1000 })
  /** Large logs that are read and applied, or wait for it. They are in memory meanwhile, besides the document. */
  readonly large = new FairQueue({ atOnce: 4, atOncePerAccount: 1, waiting: 1000, waitingPerAccount: 100 })

  constructor(pool: WorkerPool, bounds: Partial<LoadBounds> = {}) {
    this.#pool = pool
    this.#bounds = { ...defaultBounds, ...bounds }
  }

  /**
   * Applies a log.
   *
   * @returns the steps that integrating the items took (meter.ts)
   * @throws an error for which `isTooCostly` is true when the log takes too long to cut or to integrate
   */
  async apply(document: Y.Doc, log: LogContent, options: ApplyLogOptions): Promise<number> {
    const { cutMs, maxLoadSteps } = this.#bounds
    const meter: Meter = { steps: 0, maxSteps: maxLoadSteps, maxItemSteps: maxLoadSteps, turnSteps: 0 }
    const { snapshot, updates } = log
    options.requireRoom?.()
    const isSmall =
      updates.every(({ byteLength }) => byteLength <= smallUpdateBytes) &&
      updates.reduce((sum, { byteLength }) => sum + byteLength, snapshot?.byteLength ?? 0) <= smallLogBytes
    const isOpened = isSmall && (!snapshot || (await this.#applySnapshot(document, snapshot, meter, options)))
    const parts = isOpened
      ? updates
      : await this.#pool.run(cutTask, log, {
          account: options.account,
          timeoutMs: cutMs,
          transfer: options.transfer ?? [],
        })
    await this.#applyAll(document, parts, meter, options, (part) =>
      Y.applyUpdate(document, part, options.origin),
    )
    return meter.steps
  }

  /**
   * Encodes the document of a log in a worker thread. The log can't be used afterwards.
   *
   * @returns the document as an update (V1), and its state vector
   * @throws an error for which `isTooCostly` is true when that takes too long, or too much memory
   */
  async encode(log: LogContent, account: string): Promise<{ state: Uint8Array; vector: Uint8Array }> {
    const content = { snapshot: log.snapshot, updates: log.updates }
    const how = { account, timeoutMs: this.#bounds.cutMs, transfer: ownBuffers(content) }
    const [state, vector] = await this.#pool.run(encodeTask, content, how)
    return { state: state!, vector: vector! }
  }

  /** Applies parts that a worker thread has cut. */
  async applyParts(document: Y.Doc, parts: Uint8Array[], options: ApplyLogOptions): Promise<void> {
    const { maxLoadSteps } = this.#bounds
    const meter: Meter = { steps: 0, maxSteps: maxLoadSteps, maxItemSteps: maxLoadSteps, turnSteps: 0 }
    await this.#applyAll(document, parts, meter, options, (part) =>
      Y.applyUpdate(document, part, options.origin),
    )
  }

  /** Applies a snapshot. @returns false, with nothing applied, when it has too many structs */
  async #applySnapshot(
    document: Y.Doc,
    snapshot: Uint8Array,
    meter: Meter,
    options: ApplyLogOptions,
  ): Promise<boolean> {
    try {
      await this.#applyAll(document, [snapshot], meter, options, () =>
        Y.applyUpdateV2(document, snapshot, options.origin, countingDecoder(smallStructs)),
      )
      return true
    } catch (error) {
      if (error instanceof ManyStructs) return false
      throw error
    }
  }

  async #applyAll(
    document: Y.Doc,
    parts: Uint8Array[],
    meter: Meter,
    { account, origin, failed, requireRoom }: ApplyLogOptions,
    apply: (part: Uint8Array) => void,
  ): Promise<void> {
    let next = 0
    const applySlice = () => {
      mark('loading a document')
      const until = performance.now() + sliceMs
      do {
        try {
          metered(meter, () => apply(parts[next]!))
        } catch (error) {
          if (error instanceof TurnOver) return
          if (error instanceof TooCostly || error instanceof ManyStructs) throw error
          failed(error)
        }
        next += 1
      } while (next < parts.length && performance.now() <= until)
    }
    while (next < parts.length) {
      await this.slices.run(account, async () => {
        requireRoom?.()
        Y.transact(document, applySlice, origin, false)
        if (next < parts.length) await immediate()
      })
    }
    requireRoom?.()
  }
}

/** Whether the error means that the log takes too long, or too much memory, to load. Another attempt would fail in the same way. */
export const isTooCostly = (error: unknown): boolean =>
  error instanceof TaskExceeded || error instanceof TooCostly

class ManyStructs extends Error {}

/** A decoder that throws after `most` structs. Yjs reads a whole update before it integrates any of it. */
function countingDecoder(most: number): typeof Y.UpdateDecoderV2 {
  let count = 0
  return class extends Y.UpdateDecoderV2 {
    override readInfo(): number {
      count += 1
      if (count > most) throw new ManyStructs()
      return super.readInfo()
    }
  }
}
