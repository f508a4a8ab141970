/** Sends what is due: claims it, signs it, sends it, writes down what came of it. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import type { Database } from '../../sql/database.ts'
import { exchange, type AttemptOptions } from './attempt.ts'
import { claimDue, giveBack, takeBackLapsed, type ClaimBounds, type ClaimedDelivery } from './claim.ts'
import type { Reservation } from './fan-out.ts'
import { Lanes, type Lane } from './lanes.ts'
import { startLoop, type Loop } from '../loop.ts'
import { keepKeys } from './sign.ts'
import { waitAfter } from './retry.ts'
import { openSettler } from './settle.ts'
import { Tally } from './tally.ts'
import { Turns } from './turns.ts'

export interface DeliverOptions extends Omit<AttemptOptions, 'keysOf'> {
  database: Database
  /** Decrypts a webhook's secret. */
  openSecret(sealed: Uint8Array, webhookId: string): string
  /** Seconds between attempts. */
  waits: readonly number[]
  /** A random number from 0 to 1: how much of the 10 % is added to a wait. */
  jitter(): number
  bounds?: Partial<ClaimBounds>
  tickMs?: number
}

export interface Deliverer extends Loop {
  /** Deliveries were queued. */
  wake(): void
  /** Slots for deliveries that are about to be queued, so that they need not be claimed first. @param promised of each webhook, by `roomAgain` */
  reserve(promised?: number): Reservation
}

const defaultBounds: ClaimBounds = { perWebhook: 4, total: 512, failing: 256 }
const roomPollMs = 3
const unevenMostMs = 20
const claimWaitMs = 100

export function startDelivering(given: DeliverOptions): Deliverer {
  const options = { ...given, keysOf: keepKeys(given.openSecret) }
  const { database, clock, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const mostOpen = 4 * bounds.total // what is sent and not yet written down goes out again after a crash
  const settler = openSettler({ database, clock, log, written: close, isStopped: () => state.stopped })
  const lanes = new Lanes(bounds)
  /** Being sent, or failed and not yet written down: how a webhook's next ones go depends on that. */
  let total = 0
  /** Of them, to webhooks whose last delivery had failed. */
  let failing = 0
  /** Until they are written down. A stop waits for all of it. */
  const open = new Tally()
  /** Of these something could not begin, because too much is under way in all. */
  const heldUp = new Set<Lane>()
  let claiming: Promise<void> | null = null
  /** Claims, and who takes places for what is being queued, go one after the other: each counts what the one before has. */
  const turns = new Turns()
  let isClaimUnderWay = false
  /** `arrived`: something was queued since the last claim. `claimHeldUp`: for the same reason nothing could be claimed. */
  const state = { woken: false, stopped: false, mayHaveMore: false, arrived: false, claimHeldUp: false }

  function wake(): void {
    state.arrived = true
    claimSoon()
  }

  function claimSoon(): void {
    state.woken = true
    if (claiming || state.stopped) return
    claiming = claim()
      .catch((error: unknown) => log.warn({ err: error }, 'deliveries wait: they could not be claimed'))
      .finally(() => {
        claiming = null
        if (state.woken) claimSoon()
      })
  }

  async function claim(): Promise<void> {
    while (state.woken && !state.stopped) {
      await turns.take(async () => {
        isClaimUnderWay = true
        await claimOnce().finally(() => (isClaimUnderWay = false))
      })
    }
  }

  async function claimOnce(): Promise<void> {
    state.woken = false
    state.mayHaveMore = false // until it is known: what ends meanwhile would have one claim follow the other
    const room = roomToClaim()
    if (room <= 0) {
      state.claimHeldUp = true // what makes room wakes
      return
    }
    for (const lane of lanes.all()) {
      if (lanes.room(lane) > 0) lane.mayHaveMore = false
      else if (state.arrived) lane.mayHaveMore = true
    }
    state.arrived = false
    const roomForFailing = bounds.failing - failing
    const { claimed, more } = await claimDue(database, clock.now(), bounds, {
      room,
      roomForFailing,
      byWebhook: lanes.taken(),
    })
    if (more) state.woken = true
    state.mayHaveMore =
      claimed.length >= room || claimed.filter(({ failuresInARow: n }) => n > 0).length >= roomForFailing
    const touched = new Set(claimed.map((delivery) => lanes.of(delivery.webhookId)))
    for (const delivery of claimed) lanes.hold(lanes.of(delivery.webhookId), delivery)
    for (const lane of touched) {
      lane.mayHaveMore = true
      handBack(lanes.trim(lane))
      advance(lane)
    }
  }

  /** Begins what is held, as far as it may be under way. */
  function advance(lane: Lane): void {
    while (lane.held.length > 0 && lane.underWay < bounds.perWebhook && !state.stopped) {
      if (isFull()) {
        heldUp.add(lane)
        return
      }
      const delivery = lanes.next(lane)!
      if (clock.now() + limits.webhooks.attemptMs < delivery.leaseUntil) begin(lane, delivery)
      else handBack([delivery, ...lanes.empty(lane)])
    }
  }

  function begin(lane: Lane, delivery: ClaimedDelivery): void {
    lane.underWay += 1
    total += 1
    if (delivery.failuresInARow > 0) failing += 1
    open.add()
    void attempt(lane, delivery)
  }

  async function attempt(lane: Lane, delivery: ClaimedDelivery): Promise<void> {
    try {
      const result = await exchange(options, delivery)
      if (result.error === null) {
        lanes.succeeded(lane, result.durationMs)
        ended(lane, delivery) // the next one need not wait for the log
        return settler.succeeded(delivery, result)
      }
      handBack(lanes.empty(lane))
      const waitMs = waitAfter(delivery.attempt + 1, options.waits, result.retryAfterMs, options.jitter())
      await settler.failed(delivery, result, waitMs)
    } catch (error) {
      log.warn(
        { err: error, deliveryId: delivery.id },
        'an attempt could not be written down; it is made again',
      )
    }
    ended(lane, delivery)
    close()
  }

  function ended(lane: Lane, { failuresInARow }: ClaimedDelivery): void {
    lane.underWay -= 1
    total -= 1
    if (failuresInARow > 0) failing -= 1
    advance(lane)
    roomMade()
    if ((lane.mayHaveMore || state.mayHaveMore) && lanes.runsLow(lane)) claimSoon()
    lanes.forgetIfIdle(lane)
  }

  const isFull = () => total >= bounds.total || open.count >= mostOpen
  const roomToClaim = () => (isFull() ? 0 : bounds.total - total - lanes.reserved)

  function close(count = 1): void {
    open.end(count)
    roomMade()
  }

  function roomMade(): void {
    for (const lane of heldUp) {
      if (isFull()) return
      heldUp.delete(lane)
      advance(lane)
    }
    if (!state.claimHeldUp || roomToClaim() <= 0) return
    state.claimHeldUp = false
    claimSoon()
  }

  /** Into the queue, where they were; nothing of them was sent. */
  function handBack(deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return
    open.add()
    void giveBack(database, deliveries)
      .catch((error: unknown) => log.warn({ err: error }, 'deliveries wait until their lease lapses'))
      .finally(() => {
        close()
        wake()
      })
  }

  function reserve(promised = 0): Reservation {
    const places = new Map<string, number>()
    open.add()
    const end = () => {
      for (const [webhookId, count] of places) {
        const lane = lanes.of(webhookId)
        lane.reserved -= count
        lanes.reserved -= count
        lanes.forgetIfIdle(lane)
      }
      close()
    }
    return {
      take(webhookId) {
        // What a claim under way takes is not counted yet.
        if (isClaimUnderWay || state.stopped || lanes.areFull()) return false
        const lane = lanes.of(webhookId)
        const taken = places.get(webhookId) ?? 0
        // It may have become slower since, but not so slow that it matters.
        const isPromised = taken < promised && lane.typicalMs !== null
        if (lanes.room(lane) <= 0 && !isPromised) return false
        lane.reserved += 1
        lanes.reserved += 1
        places.set(webhookId, taken + 1)
        return true
      },
      start(deliveries) {
        for (const delivery of deliveries) lanes.hold(lanes.of(delivery.webhookId), delivery)
        end()
        for (const lane of new Set(deliveries.map(({ webhookId }) => lanes.of(webhookId)))) {
          handBack(state.stopped ? lanes.empty(lane) : lanes.trim(lane))
          advance(lane)
        }
      },
      inTurn: (work) => turns.take(work, claimWaitMs),
      async roomAgain(webhookIds, withinMs) {
        const until = performance.now() + withinMs
        let unevenMs = 0
        while (!state.stopped && performance.now() < until && unevenMs < unevenMostMs) {
          const room = lanes.roomOf(webhookIds)
          if (typeof room === 'number') return room
          if (room === 'never') break
          unevenMs = room === 'uneven' ? unevenMs + roomPollMs : 0
          await delay(roomPollMs)
        }
        return 0
      },
      release: end,
    }
  }

  const loop = startLoop('deliver', options.tickMs ?? 1000, log, async () => {
    await takeBackLapsed(database, clock.now())
    for (const lane of lanes.stale()) handBack(lanes.empty(lane))
    wake()
  })
  return {
    wake,
    reserve,
    async stop() {
      state.stopped = true
      await Promise.all([loop.stop(), claiming])
      for (const lane of lanes.all()) handBack(lanes.empty(lane))
      await open.empty()
    },
  }
}
