/**
 * What this process has of each webhook's deliveries: under way, and held to follow them in the order in which they
 * were claimed. One failure, or no answer for a while, and what is held goes back into the queue.
 */
import { performance } from 'node:perf_hooks'
import type { ClaimBounds } from './claim.ts'
import type { ClaimedDelivery } from './delivery.ts'

/**
 * How many a webhook may hold: as many as it gets through in this time.
 *
 * `claimed`: a claim costs the same for one and for thirty; to give one back costs another write.
 * `fannedOut`: those of an event as it leaves the outbox. Not to hold one costs another write. Well below the lease.
 */
const aheadMs = { claimed: 250, fannedOut: 5000 }
/** In all: one fan-out may exceed it by its own deliveries. */
const heldMost = { ofOneWebhook: { claimed: 128, fannedOut: 512 }, inAll: 8192 }
/** What is held goes back when the webhook has not answered for this long. */
const stalledAfterMs = 2000
/** Lanes that are kept for their pace although nothing is in them: those of the webhooks that were busy last. */
const lanesKept = 256

/**
 * How quickly a webhook answers.
 *
 *   unknown         → known    a success
 *   unknown, known  → stalled  a failure, or no answer for `stalledAfterMs`
 *   stalled         → known    a success
 *   unknown, stalled → –       nothing is left in the lane: it is forgotten
 */
type Pace = { is: 'unknown' } | { is: 'known'; typicalMs: number } | { is: 'stalled' }

/** The deliveries of one webhook that this process has. */
export class Lane {
  readonly webhookId: string
  underWay = 0
  /** On their way back into the queue. */
  returning = 0
  /** The queue may have more of it than was claimed. */
  mayHaveMore = false
  #pace: Pace = { is: 'unknown' }
  #held: ClaimedDelivery[] = []
  #progressAtMs = 0
  readonly #perWebhook: number

  constructor(webhookId: string, perWebhook: number) {
    this.webhookId = webhookId
    this.#perWebhook = perWebhook
  }

  get held(): number {
    return this.#held.length
  }

  get isIdle(): boolean {
    return this.underWay + this.returning + this.#held.length === 0
  }

  get isPaceKnown(): boolean {
    return this.#pace.is === 'known'
  }

  get isStale(): boolean {
    return this.#held.length > 0 && this.#progressAtMs < performance.now() - stalledAfterMs
  }

  /** How many more may be claimed. Below 0: it has more than it may have. */
  get room(): number {
    return this.#perWebhook + this.#depth - this.underWay - this.#held.length
  }

  /** So few are held that it is time to claim more. */
  get runsLow(): boolean {
    return this.#held.length <= this.#depth / 2
  }

  /** How many more may be held as they leave the outbox: none before what goes back into the queue. */
  get roomToFanOut(): number {
    if (this.#pace.is === 'stalled' || this.returning > 0) return 0
    return this.#ahead('fannedOut') - this.#held.length
  }

  get #depth(): number {
    return this.#pace.is === 'known' ? this.#ahead('claimed') : 0
  }

  hold(delivery: ClaimedDelivery): void {
    if (this.#held.length === 0) this.#progressAtMs = performance.now()
    this.#held.push(delivery)
  }

  /** Takes out the next one to send. */
  next(): ClaimedDelivery | undefined {
    return this.#held.shift()
  }

  succeeded(durationMs: number): void {
    const ms = Math.max(1, durationMs)
    const typicalMs = this.#pace.is === 'known' ? 0.8 * this.#pace.typicalMs + 0.2 * ms : ms
    this.#pace = { is: 'known', typicalMs }
    this.#progressAtMs = performance.now()
  }

  /** Takes out all that is held. Nothing more is held until the webhook has answered again. */
  stall(): ClaimedDelivery[] {
    this.#pace = { is: 'stalled' }
    return this.empty()
  }

  empty(): ClaimedDelivery[] {
    return this.#held.splice(0)
  }

  /** Takes out what is too much for a stalled one: it was claimed before that was known. */
  trim(): ClaimedDelivery[] {
    if (this.#pace.is !== 'stalled') return []
    return this.#held.splice(Math.max(0, this.#held.length + Math.min(0, this.room)))
  }

  #ahead(way: keyof typeof aheadMs): number {
    const most = heldMost.ofOneWebhook[way]
    if (this.#pace.is !== 'known') return most
    return Math.min(most, Math.floor((this.#perWebhook * aheadMs[way]) / this.#pace.typicalMs))
  }
}

/** The lanes of all webhooks that have deliveries here, and of those that had some last. */
export class Lanes {
  readonly #perWebhook: number
  readonly #lanes = new Map<string, Lane>()

  constructor({ perWebhook }: ClaimBounds) {
    this.#perWebhook = perWebhook
  }

  of(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId)
    if (!lane) {
      lane = new Lane(webhookId, this.#perWebhook)
      this.#lanes.set(webhookId, lane)
    }
    return lane
  }

  all(): Iterable<Lane> {
    return this.#lanes.values()
  }

  /** How many deliveries of this webhook may be held as they leave the outbox. */
  roomToFanOut(webhookId: string): number {
    if (this.#held() >= heldMost.inAll) return 0
    return (this.#lanes.get(webhookId) ?? new Lane(webhookId, this.#perWebhook)).roomToFanOut
  }

  /** As a claim asks for it: how many less than `perWebhook` may be taken of each; below 0, how many more. */
  taken(): Map<string, number> {
    const isFull = this.#held() >= heldMost.inAll
    const taken = new Map<string, number>()
    for (const lane of this.#lanes.values()) {
      const room = isFull ? Math.min(lane.room, this.#perWebhook - lane.underWay - lane.held) : lane.room
      taken.set(lane.webhookId, this.#perWebhook - room)
    }
    return taken
  }

  forgetIfIdle(lane: Lane): void {
    if (!lane.isIdle) return
    this.#lanes.delete(lane.webhookId)
    if (!lane.isPaceKnown) return
    this.#lanes.set(lane.webhookId, lane) // the last one from now on
    if (this.#lanes.size <= lanesKept) return
    for (const other of this.#lanes.values()) {
      if (!other.isIdle) continue
      this.#lanes.delete(other.webhookId)
      return
    }
  }

  #held(): number {
    let held = 0
    for (const lane of this.#lanes.values()) held += lane.held
    return held
  }
}
