/**
 * Plans the text edits for bodies that a request writes. The difference of two long texts is expensive, and a commit is
 * assembled on the main thread with the writes of other requests. So the edits are planned before the write is queued,
 * the expensive ones in a worker thread. The commit only checks that the text has not changed since.
 */
import type * as Y from 'yjs'
import { planBody, type BodyChange, type BodyPlan, type planBodies } from '../../core/body-plan.ts'
import type { CardChange } from '../../core/card.ts'
import { task, type WorkerPool } from '../../platform/work/worker-pool.ts'
import { findCard, sharedText, type SharedMap } from '../canvas/canvas.ts'
import { offload, runsOf } from './offload.ts'

const planTask = task<typeof planBodies>(new URL('../../core/body-plan.ts', import.meta.url), 'planBodies')

/** Limits in search steps of about 15 ns each. */
const efforts = {
  /** On the main thread, for all bodies of a request: about 6 ms. */
  inline: 400_000,
  /** While a commit is assembled, for all bodies of a request whose text has changed since the planning. */
  assembling: 20_000,
  /** In worker threads: for all bodies of a request, and for one of them. */
  request: 60_000_000,
  body: 5_000_000,
}

/** Limits of one task of a worker thread, in characters and search steps. It takes about half a second. */
const perRun = { chars: 1_000_000, steps: 30_000_000 }

/** Attempts to plan. When somebody types without pause, the last attempt accepts a coarse plan. */
const maxAttempts = 4

/** The part of a card's change that concerns the body. */
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
   * Plans the bodies, then calls `write`. Repeats both when a text changed in between and is too long to be planned
   * while the commit is assembled.
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

  /**
   * Returns the plan for a card, while a commit is assembled. Throws when the plan must be made outside of the commit.
   */
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
    const charsOf = ({ current, wanted, base = '' }: BodyChange) =>
      current.length + wanted.length + base.length
    for (const run of runsOf(rest, charsOf, perRun.chars, Math.floor(perRun.steps / effortEach))) {
      const plans = await offload(this.#pool, planTask, { changes: run, effortEach }, this.#account)
      run.forEach(({ id, current }, n) => this.#plans.set(id, { ...plans[n]!, current }))
    }
  }
}

/** The text of a card's body in the document. */
export const bodyOf = (shared: SharedMap): string => sharedText(shared.get('body'))?.toString() ?? ''

const textMovedOn = new Error('A text has changed since its edits were planned.')
