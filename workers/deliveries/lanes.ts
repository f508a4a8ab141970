/**
 * What this process has of each webhook's deliveries: under way, and held to follow them.
 *
 * Of a webhook that answers quickly some more are claimed than may be under way, as many as it gets through in
 * `holdMs`: a claim costs the same for one and for thirty. They go out in the order in which they were claimed. One
 * failure, and what is held goes back into the queue; so does what has been held for too long.
 */
import { performance } from 'node:perf_hooks'
import type { ClaimBounds, ClaimedDelivery } from './claim.ts'

const holdMs = 250
const heldMost = { ofOneWebhook: 128, inAll: 4096 }
/** A claim that is not begun by then is given back: the lease has to last for the attempt. */
const heldAtMostMs = 2000
/** Lanes that are kept for their pace although nothing is in them: those of the webhooks that were busy last. */
const lanesKept = 256

export interface Lane {
  webhookId: string
  underWay: number
  /** Places for deliveries that are being queued. */
  reserved: number
  held: { delivery: ClaimedDelivery; sinceMs: number }[]
  /** Of a success; null before the first one, and after a failure. */
  typicalMs: number | null
  /** The queue may have more of it than was claimed. */
  mayHaveMore: boolean
}

export class Lanes {
  private readonly perWebhook: number
  private readonly lanes = new Map<string, Lane>()
  private heldInAll = 0
  reserved = 0

  constructor({ perWebhook }: ClaimBounds) {
    this.perWebhook = perWebhook
  }

  of(webhookId: string): Lane {
    let lane = this.lanes.get(webhookId)
    if (!lane) {
      lane = { webhookId, underWay: 0, reserved: 0, held: [], typicalMs: null, mayHaveMore: false }
      this.lanes.set(webhookId, lane)
    }
    return lane
  }

  all(): Iterable<Lane> {
    return this.lanes.values()
  }

  /** How many more of it may be claimed. */
  room(lane: Lane): number {
    return this.perWebhook + this.depth(lane) - lane.underWay - lane.held.length - lane.reserved
  }

  /**
   * How many more of each of these may be taken, once that is half of what each may have. `later`: not yet; `uneven`: not
   * yet, and another has nothing to do meanwhile; `never`: one has failed.
   */
  roomOf(webhookIds: Iterable<string>): number | 'later' | 'uneven' | 'never' {
    const lanes: Lane[] = []
    let share = Infinity
    for (const id of webhookIds) {
      const lane = this.lanes.get(id)
      if (!lane) return 'never'
      lanes.push(lane)
      if (lane.typicalMs === null) share = 0
      else share = Math.min(share, Math.floor((this.perWebhook + this.depth(lane)) / 2))
    }
    share = Math.min(share, Math.floor((heldMost.inAll - this.heldInAll - this.reserved) / lanes.length))
    if (share <= 0) return 'later' // of one nothing is known yet, or all are full
    if (lanes.every((lane) => this.room(lane) >= share)) return share
    return lanes.some(({ underWay, held }) => underWay + held.length === 0) ? 'uneven' : 'later'
  }

  /** As many as may be held at all. */
  areFull(): boolean {
    return this.heldInAll + this.reserved >= heldMost.inAll
  }

  /** As a claim asks for it: how much less than usual may be taken of each; below 0, how much more. */
  taken(): Map<string, number> {
    const taken = new Map<string, number>()
    for (const lane of this.lanes.values()) taken.set(lane.webhookId, this.perWebhook - this.room(lane))
    return taken
  }

  /** So few are held that it is time to claim more. */
  runsLow(lane: Lane): boolean {
    return lane.held.length <= this.depth(lane) / 2
  }

  hold(lane: Lane, delivery: ClaimedDelivery): void {
    lane.held.push({ delivery, sinceMs: performance.now() })
    this.heldInAll += 1
  }

  next(lane: Lane): ClaimedDelivery | undefined {
    const first = lane.held.shift()
    if (first) this.heldInAll -= 1
    return first?.delivery
  }

  /** Takes out what is held of it. Nothing more is claimed ahead until it has answered again. */
  empty(lane: Lane): ClaimedDelivery[] {
    lane.typicalMs = null
    this.heldInAll -= lane.held.length
    return lane.held.splice(0).map(({ delivery }) => delivery)
  }

  /** Takes out what is too much of it: it was claimed before a failure was known. */
  trim(lane: Lane): ClaimedDelivery[] {
    if (lane.typicalMs !== null) return []
    const tooMany = Math.max(0, Math.min(lane.held.length, -this.room(lane)))
    this.heldInAll -= tooMany
    return lane.held.splice(lane.held.length - tooMany).map(({ delivery }) => delivery)
  }

  /** Of which something has been held for too long. */
  stale(): Lane[] {
    const latest = performance.now() - heldAtMostMs
    return [...this.lanes.values()].filter(({ held }) => held.length > 0 && held[0]!.sinceMs < latest)
  }

  succeeded(lane: Lane, durationMs: number): void {
    const ms = Math.max(1, durationMs)
    lane.typicalMs = lane.typicalMs === null ? ms : 0.8 * lane.typicalMs + 0.2 * ms
  }

  forgetIfIdle(lane: Lane): void {
    if (!isIdle(lane)) return
    this.lanes.delete(lane.webhookId)
    if (lane.typicalMs === null) return
    this.lanes.set(lane.webhookId, lane) // the last one from now on
    if (this.lanes.size <= lanesKept) return
    for (const other of this.lanes.values()) {
      if (!isIdle(other)) continue
      this.lanes.delete(other.webhookId)
      return
    }
  }

  private depth({ typicalMs }: Lane): number {
    if (typicalMs === null || this.heldInAll >= heldMost.inAll) return 0
    return Math.min(heldMost.ofOneWebhook, Math.floor((this.perWebhook * holdMs) / typicalMs))
  }
}

const isIdle = ({ underWay, reserved, held }: Lane) => underWay + reserved + held.length === 0
