/** Takes events out of the outbox, makes their deliveries, sends all due deliveries, and records the outcomes. */
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { startLoop, type Loop } from '../loop.ts'
import { exchange, type AttemptOptions } from './attempt.ts'
import { claimDue, giveBack, takeBackLapsed, type ClaimBounds } from './claim.ts'
import type { ClaimedDelivery, Outcome } from './delivery.ts'
import { fanOut } from './fan-out.ts'
import { appendToJournal } from './journal.ts'
import { Lanes, type Lane } from './lanes.ts'
import { OutcomeRecorder, type RecorderOptions } from './record-outcomes.ts'
import { waitAfter } from './retry.ts'
import { keepKeys } from './sign.ts'
import { Stages } from './stages.ts'
import { takeApiEvents, takeAppEvents, type Taken } from './take-events.ts'

export interface DelivererOptions extends Omit<AttemptOptions, 'keysOf'>, Pick<RecorderOptions, 'database'> {
  /** Decrypts a webhook's secret. */
  openSecret(sealed: Uint8Array, webhookId: string): string
  /** Seconds between attempts. */
  waits: readonly number[]
  /** Returns a random number from 0 to 1. A wait becomes longer by this part of 10 %. */
  jitter(): number
  /** Age at which a board's oldest event of editors or plain SQL is taken. */
  pollSeconds: number
  bounds?: Partial<ClaimBounds>
  tickMs?: number
  /** Called after each attempt. `failed`: another one follows. */
  onAttempt?(result: 'succeeded' | 'failed' | 'given_up', durationMs: number): void
  /** Called after events were appended to the journal. */
  onJournal?(): void
}

/** Kinds of work. A turn does one of them. */
type Work = 'outbox' | 'appEvents' | 'lapsed' | 'queue' | 'returns'

const failures: Record<Work, string> = {
  outbox: 'events could not be taken out of the outbox; they wait',
  appEvents: 'events could not be taken out of the outbox; they wait',
  lapsed: 'deliveries whose lease lapsed could not be queued again; they wait',
  queue: 'due deliveries could not be claimed; they wait',
  returns: 'deliveries could not be given back to the queue; they wait until their lease lapses',
}

const defaultBounds: ClaimBounds = { perWebhook: 4, total: 512, failing: 256 }
/**
 * Most events of requests that a turn takes. The first turn takes few, so that they are sent while the others are fanned
 * out: 100 events for 20 webhooks take 20 ms.
 */
const eventBatch = { first: 10, growth: 4, most: 160 }
/** Pauses after the outbox was emptied. `nothing` is long, because most requests are in workspaces without webhooks. */
const restMs = { delivered: 2, nothing: 50 }

/**
 * Sends all deliveries. Each comes from the outbox or from the queue into the lane of its webhook, and waits there for
 * its attempt. delivery.ts has the table of states.
 *
 * Work is done in turns, one after the other. So a claim and a fan-out never fill a lane at the same time, and a lane
 * has its deliveries in order.
 */
export class Deliverer implements Loop {
  readonly #options: DelivererOptions & AttemptOptions
  readonly #bounds: ClaimBounds
  readonly #lanes: Lanes
  readonly #recorder: OutcomeRecorder
  readonly #loop: Loop
  readonly #wanted = new Set<Work>()
  /** The turns under way. */
  #running: Promise<void> | null = null
  #resting: NodeJS.Timeout | null = null
  #stopped = false
  #eventBatch = eventBatch.first
  readonly #stages = new Stages()
  /** Attempts under way to webhooks whose last delivery had failed. */
  #failing = 0
  readonly #returning: ClaimedDelivery[] = []
  /** Lanes with free slots whose held deliveries wait, because the process is full. */
  readonly #heldUp = new Set<Lane>()
  /** The last claim used all its room. */
  #queueMayHaveMore = false

  readonly #turns: Record<Work, () => Promise<void>> = {
    outbox: () => this.#fanOutApiEvents(),
    appEvents: () => this.#fanOutAppEvents(),
    lapsed: () => takeBackLapsed(this.#options.database, this.#options.clock.now()),
    queue: () => this.#claim(),
    returns: () => this.#giveBack(),
  }

  constructor(options: DelivererOptions) {
    this.#options = { ...options, keysOf: keepKeys(options.openSecret) }
    this.#bounds = { ...defaultBounds, ...options.bounds }
    this.#lanes = new Lanes(this.#bounds)
    this.#recorder = new OutcomeRecorder({
      ...options,
      recorded: (count) => this.#recorded(count),
      isStopped: () => this.#stopped,
    })
    this.#loop = startLoop('deliver', options.tickMs ?? 1000, options.log, async () => this.#lookAround())
  }

  /** Deliveries of this process: attempts under way, and claimed ones that wait for theirs. */
  counts(): { underWay: number; held: number } {
    return { underWay: this.#stages.underWay, held: this.#stages.held }
  }

  /** Call this when a request may have written an event. */
  wakeOutbox(): void {
    this.#want('outbox')
  }

  /** Call this when a delivery was queued. */
  wakeQueue(): void {
    for (const lane of this.#lanes.all()) lane.mayHaveMore = true
    this.#want('queue')
  }

  /** Waits for attempts under way, and gives back the held deliveries. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#resting) clearTimeout(this.#resting)
    await Promise.all([this.#loop.stop(), this.#running])
    for (const lane of this.#lanes.all()) this.#handBack(lane, lane.empty())
    await this.#stages.nothingOpen()
  }

  /** Finds work that other processes, plain SQL or a crash left. */
  #lookAround(): void {
    for (const lane of this.#lanes.all()) if (lane.isStale) this.#handBack(lane, lane.stall())
    for (const work of ['lapsed', 'outbox', 'appEvents'] as const) this.#want(work)
    this.wakeQueue()
  }

  // ---- turns

  #want(work: Work): void {
    this.#wanted.add(work)
    this.#workOff()
  }

  #workOff(): void {
    if (this.#running || !this.#next()) return
    this.#running = this.#takeTurns().finally(() => {
      this.#running = null
      this.#workOff()
    })
  }

  async #takeTurns(): Promise<void> {
    for (let work = this.#next(); work; work = this.#next()) {
      this.#wanted.delete(work)
      try {
        await this.#turns[work]()
      } catch (error) {
        this.#options.log.warn({ err: error }, failures[work])
      }
    }
  }

  /** Returns the work that was wanted first, among the work that can be done now. */
  #next(): Work | undefined {
    return this.#wanted.values().find((work) => {
      if (this.#stopped) return work === 'returns'
      if (work === 'queue') return this.#roomToClaim > 0
      return work !== 'outbox' || !this.#resting
    })
  }

  async #fanOutApiEvents(): Promise<void> {
    const limit = this.#eventBatch
    const { taken, made } = await this.#fanOut((tx) => takeApiEvents(tx, limit))
    this.#eventBatch = taken < limit ? eventBatch.first : Math.min(eventBatch.most, limit * eventBatch.growth)
    if (taken === limit) return this.#want('outbox')
    const rest = made > 0 ? restMs.delivered : restMs.nothing
    this.#resting = setTimeout(() => {
      this.#resting = null
      this.#workOff()
    }, rest)
  }

  async #fanOutAppEvents(): Promise<void> {
    const { taken } = await this.#fanOut((tx) => takeAppEvents(tx, this.#options.pollSeconds))
    if (taken > 0) this.#want('appEvents')
  }

  async #fanOut(take: (tx: Transaction) => Promise<Taken>): Promise<{ taken: number; made: number }> {
    const { database, clock, onJournal } = this.#options
    const { taken, made, claimed } = await database.asSystem(async (tx) => {
      const { taken, events } = await take(tx)
      if (events.length === 0) return { taken, made: 0, claimed: [] }
      const roomFor = (webhookId: string) => this.#lanes.roomToFanOut(webhookId)
      const fannedOut = await fanOut(tx, events, clock.now(), roomFor)
      await appendToJournal(tx, events)
      return { taken, ...fannedOut }
    })
    if (taken > 0) onJournal?.()
    this.#accept(claimed)
    if (made > claimed.length) this.wakeQueue()
    return { taken, made }
  }

  async #claim(): Promise<void> {
    const { database, clock } = this.#options
    const room = this.#roomToClaim
    const roomForFailing = this.#bounds.failing - this.#failing
    for (const lane of this.#lanes.all()) if (lane.room > 0) lane.mayHaveMore = false
    this.#queueMayHaveMore = false // not known yet: an attempt that ends meanwhile must not cause another claim
    const byWebhook = this.#lanes.taken()
    const asked = { room, roomForFailing, byWebhook }
    const { claimed, more } = await claimDue(database, clock.now(), this.#bounds, asked)
    this.#queueMayHaveMore =
      claimed.length >= room || claimed.filter(({ failuresInARow: n }) => n > 0).length >= roomForFailing
    for (const { webhookId } of claimed) this.#lanes.of(webhookId).mayHaveMore = true
    this.#accept(claimed)
    if (more) this.#want('queue')
  }

  async #giveBack(): Promise<void> {
    const deliveries = this.#returning.splice(0)
    try {
      await giveBack(this.#options.database, deliveries)
    } finally {
      for (const { webhookId } of deliveries) {
        const lane = this.#lanes.of(webhookId)
        lane.returning -= 1
        this.#lanes.forgetIfIdle(lane)
      }
      this.#stages.move('returning', 'over', deliveries.length)
      this.#useRoom()
      this.wakeQueue()
    }
  }

  // ---- stages of a claimed delivery, as delivery.ts lists them

  #accept(deliveries: ClaimedDelivery[]): void {
    this.#stages.move('claimed', 'held', deliveries.length)
    const touched = new Set<Lane>()
    for (const delivery of deliveries) {
      const lane = this.#lanes.of(delivery.webhookId)
      lane.hold(delivery)
      touched.add(lane)
    }
    for (const lane of touched) {
      this.#handBack(lane, lane.trim())
      this.#advance(lane)
    }
  }

  /** Begins attempts of held deliveries while there are free slots. */
  #advance(lane: Lane): void {
    while (lane.held > 0 && lane.underWay < this.#bounds.perWebhook && !this.#stopped) {
      if (this.#isFull) {
        this.#heldUp.add(lane)
        return
      }
      const delivery = lane.next()!
      const lastsLongEnough = this.#options.clock.now() + limits.webhooks.attemptMs < delivery.leaseUntil
      if (lastsLongEnough) this.#begin(lane, delivery)
      else this.#handBack(lane, [delivery, ...lane.stall()])
    }
  }

  #begin(lane: Lane, delivery: ClaimedDelivery): void {
    this.#stages.move('held', 'underWay')
    lane.underWay += 1
    if (delivery.failuresInARow > 0) this.#failing += 1
    void this.#attempt(lane, delivery)
  }

  async #attempt(lane: Lane, delivery: ClaimedDelivery): Promise<void> {
    try {
      const outcome = await exchange(this.#options, delivery)
      if (outcome.error === null) this.#succeeded(lane, delivery, outcome)
      else await this.#failed(lane, delivery, outcome)
    } catch (error) {
      const message = 'an attempt could not be recorded; it is made again when its lease has lapsed'
      this.#options.log.warn({ err: error, deliveryId: delivery.id }, message)
      this.#over(lane, delivery)
    }
    this.#advance(lane)
    this.#useRoom()
    if ((lane.mayHaveMore || this.#queueMayHaveMore) && lane.runsLow) this.#want('queue')
    this.#lanes.forgetIfIdle(lane)
  }

  #succeeded(lane: Lane, delivery: ClaimedDelivery, outcome: Outcome): void {
    this.#stages.move('underWay', 'unrecorded')
    this.#options.onAttempt?.('succeeded', outcome.durationMs)
    this.#end(lane, delivery)
    lane.succeeded(outcome.durationMs)
    this.#recorder.succeeded(delivery, outcome)
  }

  async #failed(lane: Lane, delivery: ClaimedDelivery, outcome: Outcome): Promise<void> {
    const { waits, jitter } = this.#options
    this.#handBack(lane, lane.stall())
    const waitMs = waitAfter(delivery.attempt + 1, waits, outcome.retryAfterMs, jitter())
    this.#options.onAttempt?.(waitMs === null ? 'given_up' : 'failed', outcome.durationMs)
    await this.#recorder.failed(delivery, outcome, waitMs)
    this.#over(lane, delivery)
  }

  #over(lane: Lane, delivery: ClaimedDelivery): void {
    this.#stages.move('underWay', 'over')
    this.#end(lane, delivery)
  }

  #end(lane: Lane, { failuresInARow }: ClaimedDelivery): void {
    lane.underWay -= 1
    if (failuresInARow > 0) this.#failing -= 1
  }

  #recorded(count: number): void {
    this.#stages.move('unrecorded', 'over', count)
    this.#useRoom()
  }

  #handBack(lane: Lane, deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return
    this.#stages.move('held', 'returning', deliveries.length)
    lane.returning += deliveries.length
    this.#returning.push(...deliveries)
    this.#want('returns')
  }

  // ---- bounds of the whole process

  /** Deliveries that are sent but not recorded are sent again after a crash, so their number has a bound, too. */
  get #isFull(): boolean {
    return this.#stages.underWay >= this.#bounds.total || this.#stages.sent >= 4 * this.#bounds.total
  }

  get #roomToClaim(): number {
    return this.#isFull ? 0 : this.#bounds.total - this.#stages.underWay
  }

  #useRoom(): void {
    for (const lane of this.#heldUp) {
      if (this.#isFull) return
      this.#heldUp.delete(lane)
      this.#advance(lane)
    }
    this.#workOff()
  }
}
