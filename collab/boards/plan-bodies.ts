/**
 * How the bodies that a request writes come to be. A difference of two long texts is expensive, and a commit is put
 * together on the main thread with all that others queued: so the edits are planned before the write is queued, much of
 * it in a worker thread, and the commit only checks that the text is still the one that was planned for.
 */
import type * as Y from 'yjs'
import { planBody, type BodyChange, type BodyPlan, type planBodies } from '../../core/body-plan.ts'
import type { CardChange } from '../../core/card.ts'
import { task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { findCard, sharedText, type SharedMap } from '../canvas/canvas.ts'
import { offload } from './offload.ts'

const planTask = task<typeof planBodies>(new URL('../../core/body-plan.ts', import.meta.url), 'planBodies')

/** In steps of a search, about 15 ns each. */
const efforts = {
  /** On the main thread, for all bodies of a request: about 6 ms. */
  inline: 400_000,
  /** While a commit is put together, for all bodies of a request whose text has changed meanwhile. */
  assembling: 20_000,
  /** In worker threads, for all bodies of a request, and for one of them at most. */
  request: 60_000_000,
  body: 5_000_000,
}

/** Characters and search steps for one run of a worker thread: about half a second. */
const perRun = { chars: 1_000_000, steps: 30_000_000 }

/** Somebody types without pause: after so many plans that came too late the last one is a coarse one. */
const maxAttempts = 4

/** A change of a card, of which only the body is looked at. */
interface BodyPatch {
  id: string
  change: Pick<CardChange, 'body'>
  bodyBase?: string
}

export class BodyPlans {
  readonly #pool: WorkerPool
  readonly #account: string
  readonly #plans = new Map<string, BodyPlan>()
  #assembling = { left: 0 }
  #isLast = false

  constructor(pool: WorkerPool, account: string) {
    this.#pool = pool
    this.#account = account
  }

  /**
   * Plans the bodies and makes the write; again when a text changed in between and is too long to be planned while the
   * commit is put together.
   *
   * @throws what `write` throws, and ServiceError `session_unavailable`
   */
  async write<Result>(document: Y.Doc, patches: BodyPatch[], write: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      await this.#prepare(document, patches)
      this.#assembling = { left: efforts.assembling }
      this.#isLast = attempt === maxAttempts
      try {
        return await write()
      } catch (error) {
        if (error !== textMovedOn) throw error
      }
    }
  }

  /** The plan for a card, while a commit is put together. Throws when it has to be made outside of it. */
  take(id: string, change: BodyChange): BodyPlan {
    const planned = this.#plans.get(id)
    if (planned?.current === change.current) return planned
    const plan = planBody(change, this.#assembling)
    if (this.#assembling.left < 0 && !this.#isLast) throw textMovedOn
    return plan
  }

  async #prepare(document: Y.Doc, patches: BodyPatch[]): Promise<void> {
    const open = patches.flatMap(({ id, change: { body }, bodyBase }) => {
      const shared = body === undefined ? null : findCard(document, id)
      return shared ? [{ id, current: bodyOf(shared), wanted: body ?? '', base: bodyBase }] : []
    })
    this.#plans.clear()
    const inline = { left: efforts.inline }
    let at = 0
    for (; at < open.length; at++) {
      const plan = planBody(open[at]!, inline)
      if (inline.left < 0) break
      this.#plans.set(open[at]!.id, plan)
    }
    const rest = open.slice(at)
    const effortEach = Math.min(efforts.body, Math.floor(efforts.request / rest.length))
    for (const run of runsOf(rest, effortEach)) {
      const plans = await offload(this.#pool, planTask, { changes: run, effortEach }, this.#account)
      run.forEach(({ id, current }, n) => this.#plans.set(id, { ...plans[n]!, current }))
    }
  }
}

/** The text of a card's body as the document holds it. */
export const bodyOf = (shared: SharedMap): string => sharedText(shared.get('body'))?.toString() ?? ''

const textMovedOn = new Error('A text has changed since its edits were planned.')

function runsOf<Change extends BodyChange>(changes: Change[], effortEach: number): Change[][] {
  const runs: Change[][] = []
  let [chars, steps] = [Infinity, Infinity]
  for (const change of changes) {
    const length = change.current.length + change.wanted.length + (change.base?.length ?? 0)
    if (chars + length > perRun.chars || steps + effortEach > perRun.steps) {
      runs.push([])
      ;[chars, steps] = [0, 0]
    }
    runs.at(-1)!.push(change)
    chars += length
    steps += effortEach
  }
  return runs
}
