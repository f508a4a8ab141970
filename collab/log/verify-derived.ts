/** Verifies the data that is derived from the card index: identifiers, counters, times and the search index. */
import { fold } from '../../core/fold.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import type { Difference } from './difference.ts'
import type { ReadLog } from './verify-log.ts'

interface IndexedTimes {
  id: string
  created_at: Date
  updated_at: Date
  moved_from: string | null
}

type Fault = Omit<Difference, 'boardId'>

const stale = (what: Fault['what'], id: string, detail: string): Fault => {
  return { what, id, fault: 'stale', detail }
}

/** @returns the faults, and the corrected creation times */
export async function verifyDerived(
  tx: Transaction,
  boardId: string,
  log: ReadLog,
): Promise<{ faults: Fault[]; born: Map<string, Date> }> {
  const times = await tx<IndexedTimes[]>`
    select card_id as id, created_at, updated_at, moved_from
    from card_index
    where board_id = ${boardId} and deleted_at is null`
  const born = wrongBirths(times, log)
  return {
    faults: [
      ...(await wrongIdentifiers(tx, boardId)).map((id) => stale('card', id, 'card_identifiers')),
      ...[...born.keys()].map((id) => stale('card', id, 'created_at')),
      ...(await wrongWords(tx, boardId)).map((id) => stale('search', id, 'search_index')),
      ...(await wrongSums(tx, boardId)),
      ...(['api_clock', 'log_rows', 'log_bytes'] as const)
        .filter((name) => log.stored[name] !== log.derived[name])
        .map((name) => stale('count', name, `${log.stored[name]}, the log has ${log.derived[name]}`)),
    ],
    born,
  }
}

/**
 * Finds wrong creation times. A card can't be older than the log row that created it, nor newer than its last change. A
 * card from another board keeps its creation time.
 */
function wrongBirths(times: IndexedTimes[], { births }: ReadLog): Map<string, Date> {
  const wrong = new Map<string, Date>()
  for (const { id, created_at, updated_at, moved_from } of times) {
    const birth = moved_from === null ? births?.get(id) : undefined
    if (created_at > updated_at || (birth && created_at < birth)) wrong.set(id, birth ?? updated_at)
  }
  return wrong
}

async function wrongIdentifiers(tx: Transaction, boardId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    with derived as (
      select c.card_id, i.scope, i.value, c.workspace_id
      from card_index c
      cross join lateral jsonb_to_recordset(c.identifiers) as i(scope text, value text)
      where c.board_id = ${boardId} and c.deleted_at is null
    ), stored as (
      select card_id, scope, value, workspace_id from card_identifiers where board_id = ${boardId}
    )
    select distinct card_id as id
    from ((table derived except table stored) union all (table stored except table derived)) as differing
    order by 1`
  return rows.map(({ id }) => id)
}

interface Sums {
  top_z: number
  highest: number | null
  /** As stored, and as counted. */
  removed_bytes: number
  removed: number
  history_bytes: number
  history: number
}

/** The bytes that the segments and named versions of a board have together. */
const historyBytes = (tx: Transaction, boardId: string) => tx`(
  (select coalesce(sum(bytes + base_bytes), 0) from board_history where board_id = ${boardId})
  + (select coalesce(sum(bytes), 0) from board_versions where board_id = ${boardId})
)::bigint`

/** Finds a wrong `top_z`, and wrong sizes of removed cards and of history. Both count in the owner's quota. */
async function wrongSums(tx: Transaction, boardId: string): Promise<Fault[]> {
  const [row] = await tx<Sums[]>`
    select d.top_z, d.removed_bytes, d.history_bytes,
      (select max(z) from card_index where board_id = d.board_id and deleted_at is null) as highest,
      (select coalesce(sum(octet_length(state)), 0)::bigint from removed_cards where board_id = d.board_id) as removed,
      ${historyBytes(tx, boardId)} as history
    from board_documents d
    where d.board_id = ${boardId}`
  const faults: Fault[] = []
  if (!row) return faults
  const { top_z, highest } = row
  if (highest !== null && top_z < highest)
    faults.push(stale('count', 'top_z', `${top_z}, the highest card is at ${highest}`))
  for (const name of ['removed', 'history'] as const)
    if (row[`${name}_bytes`] !== row[name])
      faults.push(stale('count', `${name}_bytes`, `${row[`${name}_bytes`]}, it is ${row[name]}`))
  return faults
}

/**
 * Returns the ids of cards with wrong search rows, and '' for the board's name. Words that are not indexed yet, or
 * can't be, are not faults.
 */
async function wrongWords(tx: Transaction, boardId: string): Promise<string[]> {
  const [pending] = await tx`select from search_pending where board_id = ${boardId} limit 1`
  if (pending) return []
  const expected = await tx<{ id: string; title: string; body: string }[]>`
    select card_id as id, coalesce(title, '') as title, coalesce(body, '') as body
    from card_index
    where board_id = ${boardId} and deleted_at is null
    union all
    select '', name, '' from boards where id = ${boardId}`
  const indexed = await tx<{ id: string; title: string; body: string }[]>`
    select card_id as id, title, body from search_index where board_id = ${boardId}`
  const setAside = await tx<{ id: string }[]>`
    select card_id as id from search_set_aside where board_id = ${boardId}`
  const skipped = new Set(setAside.map(({ id }) => id))
  const left = new Map(indexed.map((row) => [row.id, row]))
  const wrong: string[] = []
  for (const { id, title, body } of expected) {
    const row = left.get(id)
    left.delete(id)
    if ((row?.title !== fold(title) || row.body !== fold(body)) && !skipped.has(id)) wrong.push(id)
  }
  return [...wrong, ...left.keys()]
}

/** Rebuilds the derived data. @returns whether the board was still at the position of `log` */
export function repairDerived(
  database: Database,
  boardId: string,
  log: ReadLog,
  born: Map<string, Date>,
): Promise<boolean> {
  return database.asSystem(async (tx) => {
    const [head] = await tx`
      select from board_documents where board_id = ${boardId} and seq = ${log.seq} for update`
    if (!head) return false
    if (born.size > 0)
      await tx`
        update card_index c
        set created_at = b.at
        from unnest(${[...born.keys()]}::text[], ${[...born.values()].map((at) => at.toISOString())}::text[]::timestamptz[])
          as b(id, at)
        where c.board_id = ${boardId} and c.card_id = b.id`
    await tx`delete from card_identifiers where board_id = ${boardId}`
    await tx`
      insert into card_identifiers (board_id, card_id, workspace_id, scope, value)
      select distinct c.board_id, c.card_id, c.workspace_id, i.scope, i.value
      from card_index c
      cross join lateral jsonb_to_recordset(c.identifiers) as i(scope text, value text)
      where c.board_id = ${boardId} and c.deleted_at is null`
    await tx`
      update board_documents d
      set card_count = c.count,
        is_counted = c.count > 0 and exists (select from boards b where b.id = d.board_id and b.deleted_at is null),
        top_z = greatest(d.top_z, c.highest),
        removed_bytes = (select coalesce(sum(octet_length(state)), 0) from removed_cards where board_id = ${boardId}),
        history_bytes = ${historyBytes(tx, boardId)},
        api_clock = ${log.derived.api_clock},
        log_rows = ${log.derived.log_rows},
        log_bytes = ${log.derived.log_bytes}
      from (
        select count(*) as count, max(z) as highest from card_index where board_id = ${boardId} and deleted_at is null
      ) c
      where d.board_id = ${boardId}`
    if ((await wrongWords(tx, boardId)).length > 0) {
      await tx`delete from search_index where board_id = ${boardId}`
      await tx`
        insert into search_pending (board_id, workspace_id, changed_at)
        select id, workspace_id, '-infinity' from boards where id = ${boardId}`
    }
    return true
  }, 'background')
}
