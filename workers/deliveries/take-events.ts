/**
 * Takes events out of the outbox.
 *
 *   api   changes by requests: taken at once, one event for each operation
 *   app   changes by editors and plain SQL: a board's events wait until the oldest of them is `pollSeconds` old; then all
 *         of them are merged into one event of each type, with the union of the cards
 */
import type { ServiceEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'

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
  trace: string | null
}

/** Most boards, and most events, of one transaction. */
const appBoards = 200
const appBatch = 5000

export interface Taken {
  /** How many events were taken out of the outbox. */
  taken: number
  /** In the order of the changes. */
  events: ServiceEvent[]
}

/** Takes the oldest events of requests. */
export async function takeApiEvents(tx: Transaction, limit: number): Promise<Taken> {
  const rows = await tx<OutboxRow[]>`
    delete from events
    where id = any (array(
      select id from events where origin = 'api' order by id limit ${limit} for update skip locked
    ))
    returning id, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at,
      trace`
  return { taken: rows.length, events: [...rows].sort((a, b) => a.id - b.id).map(present) }
}

/**
 * Takes the events of boards whose oldest event has waited `pollSeconds`. One process at a time: two would split a
 * board's events, and these would not be merged.
 */
export async function takeAppEvents(tx: Transaction, pollSeconds: number): Promise<Taken> {
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
    returning id, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at,
      trace`
  return { taken: rows.length, events: merge([...rows].sort((a, b) => a.id - b.id)).map(present) }
}

/** Merges events of the same type, resource and source board. The last one gives the place and the data. */
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
    trace: row.trace,
  }
}

const cardData = (ids: string[], fromBoardId: string | null) => ({
  count: ids.length,
  card_ids: ids.slice(0, limits.eventCardIds),
  ...(fromBoardId === null ? {} : { from_board_id: fromBoardId }),
})

const dataOrder = ['name', 'parent_board_id', 'view', 'changed', 'bytes', 'width', 'height', 'content_type']

/** jsonb does not keep the order of keys. */
const orderedData = (data: Record<string, unknown>) =>
  Object.fromEntries(dataOrder.filter((key) => key in data).map((key) => [key, data[key]]))
