/**
 * The deliveries that this process has claimed, by webhook: those being sent, and those held to be sent next, in the
 * order of the claims. When one fails, or the webhook does not answer for a while, the held ones go back into the queue.
 */
import { performance } from 'node:perf_hooks'
import type { ClaimBounds } from './claim.ts'
import type { ClaimedDelivery } from './delivery.ts'

/**
 * A lane may hold as many deliveries as its webhook answers in this time.
 *
 * `claimed`: deliveries from the queue. A claim costs the same for one and for thirty. To give one back costs a write.
 * `fannedOut`: deliveries from the outbox. If one is not held, it costs another write. 5 s is well below the lease.
 */
const aheadMs = { claimed: 250, fannedOut: 5000 }
/** Most deliveries that are held. One fan-out may exceed `inAll` by its own deliveries. */
const heldMost = { ofOneWebhook: { claimed: 128, fannedOut: 512 }, inAll: 8192 }
/** Held deliveries go back into the queue when the webhook has not answered for this long. */
const stalledAfterMs = 2000
/** With more lanes than this, the one that was idle first is forgotten. Until then, its pace is kept. */
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
  /** Number of deliveries on their way back into the queue. */
  returning = 0
  /** The queue may have more deliveries of this webhook. */
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

  /** How many more may be claimed. Negative when the lane has too many. */
  get room(): number {
    return this.#perWebhook + this.#depth - this.underWay - this.#held.length
  }

  /** Whether it is time to claim more, because few are held. */
  get runsLow(): boolean {
    return this.#held.length <= this.#depth / 2
  }

  /** How many more may be held from the outbox. None while others go back into the queue, because those are older. */
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

  /** Takes out the next delivery to send. */
  next(): ClaimedDelivery | undefined {
    return this.#held.shift()
  }

  succeeded(durationMs: number): void {
    const ms = Math.max(1, durationMs)
    const typicalMs = this.#pace.is === 'known' ? 0.8 * this.#pace.typicalMs + 0.2 * ms : ms
    this.#pace = { is: 'known', typicalMs }
    this.#progressAtMs = performance.now()
  }

  /** Takes out all held deliveries. The lane is stalled until the next success. */
  stall(): ClaimedDelivery[] {
    this.#pace = { is: 'stalled' }
    return this.empty()
  }

  empty(): ClaimedDelivery[] {
    return this.#held.splice(0)
  }

  /** Takes out the deliveries that are too many for a stalled lane. They were claimed before it stalled. */
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

/** The lanes of all webhooks that have deliveries in this process, and of some that had deliveries before. */
export class Lanes {
  readonly #perWebhook: number
  readonly #lanes = new Map<string, Lane>()

  constructor({ perWebhook }: ClaimBounds) {
    this.#perWebhook = perWebhook
  }

  of(webhookId: string): Lane {
    return this.#lanes.getOrInsertComputed(webhookId, (id) => new Lane(id, this.#perWebhook))
  }

  all(): Iterable<Lane> {
    return this.#lanes.values()
  }

  /** How many more deliveries of this webhook may be held from the outbox. */
  roomToFanOut(webhookId: string): number {
    if (this.#held() >= heldMost.inAll) return 0
    return (this.#lanes.get(webhookId) ?? new Lane(webhookId, this.#perWebhook)).roomToFanOut
  }

  /** Taken slots of each webhook, of `perWebhook`. Negative when a claim may take more than `perWebhook`. */
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
    this.#lanes.set(lane.webhookId, lane) // at the end: it is forgotten last
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
