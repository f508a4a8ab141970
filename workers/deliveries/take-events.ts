/**
 * Takes events out of the outbox.
 *
 *   api   changes by requests: taken at once, one event for each operation
 *   app   changes by editors and plain SQL: a board's events wait until the oldest of them is `pollSeconds` old; then all
 *         of them are merged into one event of each type, with the union of the cards
 *
 * Merged events have the time of their last change. So what contradicts another event of the same card, such as its
 * removal, is not merged across that: by their times, the events of a card end with what has become of it.
 */
import type { ServiceEvent } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { locks } from '../../sql/locks.ts'

interface OutboxRow {
  id: number
  origin: 'api' | 'app'
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

/** Takes the oldest events of requests, and what editors did before them to the same cards when they contradict it. */
export async function takeApiEvents(tx: Transaction, limit: number): Promise<Taken> {
  const rows = await tx<OutboxRow[]>`
    delete from events
    where id = any (array(
      select id from events where origin = 'api' order by id limit ${limit} for update skip locked
    ))
    returning id, origin, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at,
      trace`
  const earlier = await takeContradicted(tx, rows)
  return { taken: rows.length, events: merge([...rows, ...earlier]) }
}

/**
 * Takes the events of editors that are older than a request that contradicts one of them. Otherwise they would be merged
 * with what editors do afterwards.
 */
async function takeContradicted(tx: Transaction, requests: readonly OutboxRow[]): Promise<OutboxRow[]> {
  const changes = new LastChanges()
  const boards = new Set<string>()
  for (const request of requests) {
    changes.add(request, request.id)
    if (request.card_ids) for (const id of [request.board_id, request.from_board_id]) if (id) boards.add(id)
  }
  if (boards.size === 0) return []
  const waiting = await tx<Pick<OutboxRow, 'id' | 'type' | 'board_id' | 'card_ids'>[]>`
    select id, type, board_id, card_ids
    from events
    where origin = 'app' and board_id = any (${[...boards]}::uuid[])
    order by board_id, id
    limit ${appBatch}`
  /** By board: up to which event all have to be taken. */
  const upTo = new Map<string, number>()
  for (const row of waiting) if (changes.contradict(row, row.id)) upTo.set(row.board_id!, row.id)
  const ids = waiting.filter(({ id, board_id: board }) => id <= (upTo.get(board!) ?? 0)).map(({ id }) => id)
  if (ids.length === 0) return []
  return tx<OutboxRow[]>`
    delete from events
    where id = any (array(select id from events where id = any (${ids}::bigint[]) for update skip locked))
    returning id, origin, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at,
      trace`
}

/**
 * Takes the events of boards whose oldest event has waited `pollSeconds`, up to the board's oldest request that is not taken
 * yet. One process at a time: two would split a board's events, and these would not be merged.
 */
export async function takeAppEvents(tx: Transaction, pollSeconds: number): Promise<Taken> {
  const boards = await tx<{ board_id: string | null; before: number | null }[]>`
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
    ), requested as (
      select id, board_id from events where origin = 'api'
      union all
      select id, from_board_id from events where origin = 'api' and from_board_id is not null
    )
    select board_id, (select min(id) from requested where requested.board_id = due.board_id) as before
    from due
    limit ${appBoards}`
  if (boards.length === 0) return { taken: 0, events: [] }
  const [lock] = await tx<{ held: boolean }[]>`select pg_try_advisory_xact_lock(${locks.pickUp}) as held`
  if (!lock?.held) return { taken: 0, events: [] }
  const due = boards.filter(({ board_id: id }) => id !== null)
  const rows = await tx<OutboxRow[]>`
    delete from events
    where id = any (
      array(
        select e.id
        from unnest(${due.map(({ board_id: id }) => id)}::uuid[], ${due.map(({ before }) => before)}::bigint[])
          as due (board_id, before)
        join events e on e.board_id = due.board_id
        where e.origin = 'app' and (due.before is null or e.id < due.before)
        order by e.board_id, e.id
        limit ${appBatch}
        for update of e skip locked
      ) || array(
        select id from events
        where origin = 'app' and board_id is null and ${boards.length > due.length}
        order by id
        limit ${appBatch}
        for update skip locked
      )
    )
    returning id, origin, type, workspace_id, board_id, from_board_id, resource_type, resource_id, data, card_ids, occurred_at,
      trace`
  return { taken: rows.length, events: merge(rows) }
}

/**
 * Merges events of editors of the same type, resource and source board. The last one gives the place and the data. An event
 * that a later one contradicts stays where it is.
 */
function merge(rows: readonly OutboxRow[]): ServiceEvent[] {
  const merged: (OutboxRow | null)[] = []
  const places = new Map<string, number>()
  const changes = new LastChanges()
  for (const row of rows.toSorted((a, b) => a.id - b.id)) {
    const key = [row.type, row.resource_type, row.resource_id, row.from_board_id].join(' ')
    const place = row.origin === 'app' ? places.get(key) : undefined
    const earlier = place === undefined ? null : merged[place]!
    const isMerged = earlier !== null && !changes.contradict(earlier, place!)
    if (isMerged) merged[place!] = null
    const event = isMerged ? mergedWith(earlier, row) : row
    changes.add(event, merged.length)
    if (row.origin === 'app') places.set(key, merged.length)
    merged.push(event)
  }
  return merged.filter((event) => event !== null).map(present)
}

function mergedWith(earlier: OutboxRow, row: OutboxRow): OutboxRow {
  return {
    ...row,
    card_ids: row.card_ids && [...new Set([...(earlier.card_ids ?? []), ...row.card_ids])],
    data: row.data && { ...row.data, ...mergeChanged(earlier.data, row.data) },
  }
}

/** What events tell of a card: it is on the board, it is on another one from now on, or it is gone. */
const tellings = ['here', 'moved', 'gone'] as const
const tellingOf = ({ type }: Pick<OutboxRow, 'type'>) =>
  type === 'card.deleted' ? 'gone' : type === 'card.moved' ? 'moved' : 'here'

type AboutCards = Pick<OutboxRow, 'type' | 'card_ids'>

/** The place of the last event that tells something of a card. */
class LastChanges {
  readonly #places = new Map<string, number>()

  add(event: AboutCards, place: number): void {
    const telling = tellingOf(event)
    for (const card of event.card_ids ?? []) {
      const about = `${telling} ${card}`
      this.#places.set(about, Math.max(place, this.#places.get(about) ?? 0))
    }
  }

  /** Whether an event behind this place tells something else of one of the cards. Moves are told one by one. */
  contradict(event: AboutCards, place: number): boolean {
    const telling = tellingOf(event)
    const others = tellings.filter((other) => other !== telling || other === 'moved')
    return (event.card_ids ?? []).some((card) =>
      others.some((other) => (this.#places.get(`${other} ${card}`) ?? -1) > place),
    )
  }
}

function mergeChanged(earlier: OutboxRow['data'], later: NonNullable<OutboxRow['data']>) {
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
