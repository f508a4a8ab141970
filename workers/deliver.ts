/** Sends what is due: claims it, signs it, sends it, writes down what came of it. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../core/limits.ts'
import type { Database } from '../sql/database.ts'
import { exchange, type AttemptOptions } from './attempt.ts'
import { claimDue, giveBack, takeBackLapsed, type ClaimBounds, type ClaimedDelivery } from './claim.ts'
import type { Reservation } from './fan-out.ts'
import { Lanes, type Lane } from './lanes.ts'
import { startLoop, type Loop } from './loop.ts'
import { keepOpened } from './sign.ts'
import { waitAfter } from './retry.ts'
import { openSettler } from './settle.ts'

export interface DeliverOptions extends AttemptOptions {
  database: Database
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
  /** Slots for deliveries that are about to be queued, so that they need not be claimed first. */
  reserve(): Reservation
}

const defaultBounds: ClaimBounds = { perWebhook: 4, total: 512, failing: 256 }
const roomPollMs = 3
const unevenMostMs = 20
const claimWaitMs = 25

export function startDelivering(given: DeliverOptions): Deliverer {
  const options = { ...given, openSecret: keepOpened(given.openSecret) }
  const { database, clock, log } = options
  const bounds = { ...defaultBounds, ...options.bounds }
  const mostOpen = 4 * bounds.total // what is sent and not yet written down goes out again after a crash
  const settleAttempt = openSettler(database, clock)
  const lanes = new Lanes(bounds)
  /** Being sent, or failed and not yet written down: how a webhook's next ones go depends on that. */
  let total = 0
  /** Of them, to webhooks whose last delivery had failed. */
  let failing = 0
  /** Until they are written down. */
  const open = new Set<Promise<void>>()
  /** Of these something could not begin, because too much is under way in all. */
  const heldUp = new Set<Lane>()
  let claiming: Promise<void> | null = null
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
      state.woken = false
      state.mayHaveMore = true
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
    const isFailing = delivery.failuresInARow > 0
    lane.underWay += 1
    total += 1
    if (isFailing) failing += 1
    let isUnderWay = true
    const ended = () => {
      if (!isUnderWay) return
      isUnderWay = false
      lane.underWay -= 1
      total -= 1
      if (isFailing) failing -= 1
      advance(lane)
      roomMade()
      if ((lane.mayHaveMore || state.mayHaveMore) && lanes.runsLow(lane)) claimSoon()
      lanes.forgetIfIdle(lane)
    }
    const done = attempt(lane, delivery, ended)
      .catch((error: unknown) =>
        log.warn(
          { err: error, deliveryId: delivery.id },
          'an attempt could not be written down; it is made again',
        ),
      )
      .finally(() => close(done))
    open.add(done)
  }

  const isFull = () => total >= bounds.total || open.size >= mostOpen
  const roomToClaim = () => (isFull() ? 0 : bounds.total - total - lanes.reserved)

  function close(done: Promise<void>): void {
    open.delete(done)
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

  async function attempt(lane: Lane, delivery: ClaimedDelivery, ended: () => void): Promise<void> {
    try {
      const result = await exchange(options, delivery)
      if (result.error === null) {
        lanes.succeeded(lane, result.durationMs)
        ended() // the next one need not wait for the log
      } else {
        handBack(lanes.empty(lane))
      }
      const waitMs = waitAfter(delivery.attempt + 1, options.waits, result.retryAfterMs, options.jitter())
      // Until the lease lapses nobody else sends it, so that a database that is away for a moment doubles nothing.
      for (;;) {
        try {
          return await settleAttempt(delivery, result, waitMs)
        } catch (error) {
          if (clock.now() >= delivery.leaseUntil || state.stopped) throw error
          await delay(250)
        }
      }
    } finally {
      ended()
    }
  }

  /** Into the queue, where they were; nothing of them was sent. */
  function handBack(deliveries: ClaimedDelivery[]): void {
    if (deliveries.length === 0) return
    const done = giveBack(database, deliveries)
      .catch((error: unknown) => log.warn({ err: error }, 'deliveries wait until their lease lapses'))
      .finally(() => {
        close(done)
        wake()
      })
    open.add(done)
  }

  function reserve(): Reservation {
    const places = new Map<string, number>()
    const { promise, resolve } = Promise.withResolvers<void>()
    open.add(promise) // a stop waits for it
    const end = () => {
      for (const [webhookId, count] of places) {
        const lane = lanes.of(webhookId)
        lane.reserved -= count
        lanes.reserved -= count
        lanes.forgetIfIdle(lane)
      }
      close(promise)
      resolve()
    }
    return {
      take(webhookId) {
        // What a claim under way takes is not counted yet.
        if (claiming || state.stopped || lanes.areFull()) return false
        const lane = lanes.of(webhookId)
        if (lanes.room(lane) <= 0) return false
        lane.reserved += 1
        lanes.reserved += 1
        places.set(webhookId, (places.get(webhookId) ?? 0) + 1)
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
      async settled() {
        if (claiming) await Promise.race([claiming, delay(claimWaitMs)])
      },
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
      while (open.size > 0) await Promise.all(open)
    },
  }
}
