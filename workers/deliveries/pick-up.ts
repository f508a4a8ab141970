/**
 * Takes events out of the outbox and fans them out, both in one transaction.
 *
 *   api   what a request changed: at once, each operation an event of its own
 *   app   what editors and plain SQL changed: a board's events wait until the oldest of them is `pollSeconds` old; then
 *         all of them go as one event of each type, with the union of the cards
 */
import { limits } from '../../core/limits.ts'
import type { ServiceEvent } from '../../core/events.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'
import { fanOut, type Reservation } from './fan-out.ts'
import { startLoop, type Loop } from '../loop.ts'

export interface PickUpOptions {
  database: Database
  clock: Clock
  log: Logger
  pollSeconds: number
  /** Deliveries were queued that nobody sends yet. */
  queued(): void
  reserve(promised?: number): Reservation
  tickMs?: number
}

export interface PickUp extends Loop {
  /** An API request may have written an event. */
  wake(): void
}

interface OutboxRow {
  id: number
  type: string
  workspace_id: string
  board_id: string | null
  from_board_id: string | null
  resource_type: string
  resource_id: string
  data: Record<string, unknown> | null
  card_ids: string[] | null
  occurred_at: Date
}

/** Events of one transaction. */
const batch = 500
const appBoards = 200
const appBatch = 5000
/** Rests between two runs that were woken: most requests come from workspaces that nobody listens to. */
const restMs = { delivered: 2, nothing: 50 }
/**
 * When many events wait whose receivers all answer quickly, they leave the outbox as fast as they are delivered: queued
 * under a lease, they need not be claimed. `first`: as many as one webhook has slots when nothing is known of it yet.
 * Meanwhile all others' are picked up as ever.
 */
const flow = { first: 4, eventsInAll: 2000, flows: 2, waitMs: 250 }

type Take = (tx: Transaction) => Promise<{ taken: number; events: ServiceEvent[] }>

export function startPickUp(options: PickUpOptions): PickUp {
  const { database, clock, log, pollSeconds, queued, reserve } = options
  let running: Promise<void> | null = null
  /** By workspace. */
  const flows = new Map<string, Promise<void>>()
  const state = { woken: false, stopped: false }
  let timer: NodeJS.Timeout | null = null

  /** One transaction. `flowed`: everything that came of it is sent without being claimed. */
  async function step(take: Take, promised?: number) {
    const slots = reserve(promised)
    const { taken, events, made, leased } = await database
      .asSystem(async (tx) => {
        const { taken, events } = await take(tx)
        if (events.length === 0) return { taken, events, made: 0, leased: [] }
        const { queued: made, leased } = await fanOut(tx, events, clock.now(), slots)
        return { taken, events, made, leased }
      })
      .catch((error: unknown) => {
        slots.release()
        throw error
      })
    slots.start(leased)
    if (made > leased.length) queued()
    const webhookIds = new Set(leased.map(({ webhookId }) => webhookId))
    const roomAgain = () => slots.roomAgain(webhookIds, flow.waitMs)
    return { taken, events, made, flowed: made > 0 && leased.length === made, roomAgain }
  }

  /** All that waits of requests. @returns how many deliveries came of it */
  async function drainApi(): Promise<number> {
    let deliveries = 0
    for (let limit = flow.first; !state.stopped; limit = batch) {
      const { taken, events, made, flowed, roomAgain } = await step((tx) =>
        takeApi(tx, limit, { without: [...flows.keys()] }),
      )
      deliveries += made
      if (taken < limit) break
      const { workspaceId } = events.at(-1)!
      if (flowed && flows.size < flow.flows && !flows.has(workspaceId)) begin(workspaceId, roomAgain)
    }
    return deliveries
  }

  function begin(workspaceId: string, roomAgain: () => Promise<number>): void {
    const ended = keepFlowing(workspaceId, roomAgain)
      .catch((error: unknown) => log.warn({ err: error }, 'events wait: they could not be picked up'))
      .finally(() => {
        flows.delete(workspaceId)
        wake() // for the rest of them
      })
    flows.set(workspaceId, ended)
  }

  /** Until one of the receivers does not keep up, or nothing is left. */
  async function keepFlowing(workspaceId: string, roomAgain: () => Promise<number>) {
    for (let left = flow.eventsInAll; left > 0 && !state.stopped;) {
      const limit = await roomAgain()
      if (limit === 0) return
      const next = await step((tx) => takeApi(tx, limit, { of: workspaceId }), limit)
      if (next.taken < limit || !next.flowed) return
      left -= limit
      roomAgain = next.roomAgain
    }
  }

  /** What is due of the app. */
  async function drainApp(): Promise<void> {
    while (!state.stopped) if ((await step((tx) => takeApp(tx, pollSeconds))).taken < batch) break
  }

  function wake(): void {
    state.woken = true
    if (running || timer || state.stopped) return
    let rest = restMs.nothing
    running = (async () => {
      state.woken = false
      rest = (await drainApi()) > 0 ? restMs.delivered : restMs.nothing
    })()
      .catch((error: unknown) => log.warn({ err: error }, 'events wait: they could not be picked up'))
      .finally(() => {
        running = null
        if (state.stopped) return
        timer = setTimeout(() => {
          timer = null
          if (state.woken) wake()
        }, rest)
      })
  }

  const loop = startLoop('pick-up', options.tickMs ?? 1000, log, async () => {
    wake() // for what other processes, plain SQL or a crash left
    await drainApp()
  })
  return {
    wake,
    async stop() {
      state.stopped = true
      if (timer) clearTimeout(timer)
      await Promise.all([loop.stop(), running, ...flows.values()])
    },
  }
}

/** The oldest, of one workspace or of all but some. */
async function takeApi(tx: Transaction, limit: number, which: { of: string } | { without: string[] }) {
  const workspaces =
    'of' in which
      ? tx`and workspace_id = ${which.of}`
      : which.without.length > 0
        ? tx`and workspace_id <> all (${which.without}::uuid[])`
        : tx``
  const rows = await tx<OutboxRow[]>`
    delete from events
    where id = any (array(
      select id from events where origin = 'api' ${workspaces} order by id limit ${limit} for update skip locked
    ))
    returning id, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at`
  return { taken: rows.length, events: [...rows].sort((a, b) => a.id - b.id).map(present) }
}

/** One process at a time, or what belongs together would be torn apart. */
async function takeApp(tx: Transaction, pollSeconds: number) {
  const boards = await tx<{ board_id: string | null }[]>`
    with recursive oldest as (
      (select board_id, occurred_at from events where origin = 'app' order by board_id, id limit 1)
      union all
      select n.board_id, n.occurred_at
      from oldest o
      cross join lateral (
        select e.board_id, e.occurred_at
        from events e
        where e.origin = 'app' and e.board_id > o.board_id
        order by e.board_id, e.id
        limit 1
      ) n
    ), due as (
      select board_id from oldest
      where board_id is not null and occurred_at <= clock_timestamp() - ${pollSeconds} * interval '1 second'
      union all
      select null
      where exists (
        select from events
        where origin = 'app' and board_id is null
          and occurred_at <= clock_timestamp() - ${pollSeconds} * interval '1 second'
      )
    )
    select board_id from due limit ${appBoards}`
  if (boards.length === 0) return { taken: 0, events: [] }
  const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${locks.pickUp}) as held`
  if (!lock?.held) return { taken: 0, events: [] }
  const ids = boards.flatMap(({ board_id: id }) => (id === null ? [] : [id]))
  const rows = await tx<OutboxRow[]>`
    delete from events
    where id = any (
      array(
        select id from events
        where origin = 'app' and board_id = any (${ids}::uuid[])
        order by board_id, id
        limit ${appBatch}
        for update skip locked
      ) || array(
        select id from events
        where origin = 'app' and board_id is null and ${boards.length > ids.length}
        order by id
        limit ${appBatch}
        for update skip locked
      )
    )
    returning id, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at`
  return { taken: rows.length, events: merge([...rows].sort((a, b) => a.id - b.id)).map(present) }
}

/** One event for each type, resource and source, in the place and with the data of the last one. */
function merge(rows: OutboxRow[]): OutboxRow[] {
  const merged = new Map<string, OutboxRow>()
  for (const row of rows) {
    const key = [row.type, row.resource_type, row.resource_id, row.from_board_id].join(' ')
    const earlier = merged.get(key)
    merged.delete(key)
    merged.set(key, {
      ...row,
      card_ids: row.card_ids && [...new Set([...(earlier?.card_ids ?? []), ...row.card_ids])],
      data: row.data && { ...row.data, ...mergeChanged(earlier?.data, row.data) },
    })
  }
  return [...merged.values()]
}

function mergeChanged(earlier: OutboxRow['data'] | undefined, later: NonNullable<OutboxRow['data']>) {
  const before = (earlier?.['changed'] ?? []) as string[]
  const after = later['changed'] as string[] | undefined
  return after ? { changed: [...new Set([...before, ...after])] } : {}
}

function present(row: OutboxRow): ServiceEvent {
  return {
    type: row.type,
    resource: { type: row.resource_type, id: row.resource_id },
    workspaceId: row.workspace_id,
    boardId: row.board_id,
    data: row.card_ids ? cardData(row.card_ids, row.from_board_id) : orderedData(row.data ?? {}),
    occurredAt: row.occurred_at,
  }
}

const cardData = (ids: string[], fromBoardId: string | null) => ({
  count: ids.length,
  card_ids: ids.slice(0, limits.eventCardIds),
  ...(fromBoardId === null ? {} : { from_board_id: fromBoardId }),
})

const dataOrder = ['name', 'parent_board_id', 'view', 'changed', 'bytes', 'width', 'height', 'content_type']

/** jsonb forgets the order of keys. */
const orderedData = (data: Record<string, unknown>) =>
  Object.fromEntries(dataOrder.filter((key) => key in data).map((key) => [key, data[key]]))
