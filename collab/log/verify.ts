/**
 * Compares the index with the documents, board by board: the card and group rows, the data derived from them, and the
 * log itself.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { indexColumns } from '../../core/card.ts'
import type { CommitItem } from '../../sql/commit-call.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import type { Difference } from './difference.ts'
import { projectCard, projectGroup, type CardRow, type GroupRow } from '../canvas/project.ts'
import { repairDerived, verifyDerived } from './verify-derived.ts'
import { verifyHistory } from './verify-history.ts'
import { readLog, type ReadLog } from './verify-log.ts'

export async function boardIds(database: Database): Promise<string[]> {
  const rows = await database.asSystem(
    (tx) => tx<{ board_id: string }[]>`select board_id from board_documents order by board_id`,
    'background',
  )
  return rows.map((row) => row.board_id)
}

/**
 * @param options.waitMs how long to wait for edits of the last seconds to be indexed
 * @returns the differences of one board; none for a board that does not exist
 */
export async function verifyBoard(
  database: Database,
  boardId: string,
  { waitMs = 10_000 }: { waitMs?: number } = {},
): Promise<Difference[]> {
  const found = await compare(database, boardId, Date.now() + waitMs)
  return found ? [...found.differences, ...(await verifyHistory(database, boardId))] : []
}

/**
 * Rewrites the index rows that differ. The log is the truth. But if it is damaged, the index may contain the last copy
 * of lost data, so that board is not changed.
 *
 * @returns the repaired differences
 */
export async function repairBoard(database: Database, boardId: string): Promise<Difference[]> {
  let mended: Difference[] | null = null
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = await compare(database, boardId, 0)
    if (!found || found.differences.length === 0 || found.log.faults.length > 0) return mended ?? []
    // Compare again after rewriting a row: its creation time is derived, too.
    mended ??= found.differences
    if (await rebuildRows(database, boardId, found))
      await repairDerived(database, boardId, found.log, found.born)
  }
  throw new Error(
    `Board ${boardId} could not be repaired, because it was changed during each attempt. Try again when it is less busy.`,
  )
}

/** @returns whether the board was still at the position from which the rows were built */
async function rebuildRows(
  database: Database,
  boardId: string,
  { log, rows, groups }: Comparison,
): Promise<boolean> {
  const item: CommitItem = {
    ...{ n: 0, board: boardId, kind: 'flush', blob_at: 0, blob_bytes: 0 },
    ...{ op: randomUUID(), cause: 'rebuild', seen: log.seq, actors: [] },
  }
  const asJson = (list: object[]) =>
    list.length > 0 ? JSON.stringify(list.map((row) => ({ n: 0, ...row }))) : null
  const answer = (await database.commit({
    commitId: randomUUID(),
    freeCardCap: null,
    items: JSON.stringify([item]),
    blob: new Uint8Array(),
    rows: asJson(rows),
    groups: asJson(groups),
    removed: null,
  })) as { items: unknown[] }
  return answer.items.length === 0
}

interface Comparison {
  log: ReadLog
  differences: Difference[]
  rows: CardRow[]
  groups: GroupRow[]
  born: Map<string, Date>
}

/** How often differences are checked again before they are reported: a running service may be changing the data. */
const looks = 3

async function compare(database: Database, boardId: string, until: number): Promise<Comparison | null> {
  for (let look = 1; ;) {
    const log = await readLog(database, boardId)
    if (!log) return null
    const behind = log.indexedSeq < log.seq
    const found = await database.asSystem((tx) => compareIndex(tx, boardId, log), 'background')
    log.document.destroy()
    if (!found) return null
    const isSettled = !behind && found.seq === log.seq
    const isSure = isSettled && (found.differences.length === 0 || look++ >= looks)
    if (isSure || Date.now() >= until) return { log, ...found }
    await delay(100)
  }
}

async function compareIndex(tx: Transaction, boardId: string, log: ReadLog) {
  const index = await readIndex(tx, boardId)
  if (!index) return null
  const { document } = log
  const cards = differ(cardsOf(document).keys(), (id) => projectCard(document, id), index.cards)
  const groups = differ(groupsOf(document).keys(), (id) => projectGroup(document, id), index.groups)
  const { faults, born } = await verifyDerived(tx, boardId, log)
  const differences = [
    ...log.faults.map((fault) => ({ what: 'log' as const, ...fault })),
    ...cards.faults.map((fault) => ({ what: 'card' as const, ...fault })),
    ...groups.faults.map((fault) => ({ what: 'group' as const, ...fault })),
    ...faults,
  ].map((fault): Difference => ({ boardId, ...fault }))
  const add = (what: 'count' | 'index', fault: 'stale' | 'behind', id: string, detail: string) =>
    differences.push({ boardId, what, id, fault, detail })
  if (index.count !== index.cards.size)
    add('count', 'stale', 'card_count', `counted ${index.count}, the index has ${index.cards.size}`)
  if (index.isCounted !== index.counts)
    add('count', 'stale', 'is_counted', `${index.isCounted}, it should be ${index.counts}`)
  if (log.indexedSeq < log.seq) add('index', 'behind', '', `indexed up to ${log.indexedSeq} of ${log.seq}`)
  return { seq: index.seq, differences, rows: cards.rows, groups: groups.rows, born }
}

function differ<Row extends { id: string; gone?: boolean; hash?: string }>(
  ids: Iterable<string>,
  project: (id: string) => Row,
  indexed: Map<string, Record<string, unknown>>,
): { faults: Pick<Difference, 'id' | 'fault' | 'detail'>[]; rows: Row[] } {
  const faults: Pick<Difference, 'id' | 'fault' | 'detail'>[] = []
  const rows: Row[] = []
  const seen = new Set<string>()
  for (const id of ids) {
    const row = safely(project, id)
    if (row.gone) continue
    seen.add(id)
    const there = indexed.get(id)
    const wrong = there
      ? Object.keys(there).filter(
          (key) =>
            !isDeepStrictEqual(there[key] ?? null, row[key as keyof Row] ?? null) && !mayLack(key, there),
        )
      : []
    if (there && wrong.length === 0) continue
    faults.push({ id, fault: there ? 'stale' : 'missing', detail: wrong.join(', ') })
    rows.push(row)
  }
  for (const id of indexed.keys()) {
    if (seen.has(id)) continue
    faults.push({ id, fault: 'extra', detail: '' })
    rows.push({ id, gone: true } as Row)
  }
  return { faults, rows }
}

/** A row may lack its anchors: earlier versions of the service wrote none, and not every write does. */
const mayLack = (key: string, row: Record<string, unknown>) => key === 'anchors' && row[key] === null

/** A card that can't be read counts as not indexed. */
function safely<Row extends { id: string; gone?: boolean }>(project: (id: string) => Row, id: string): Row {
  try {
    return project(id)
  } catch {
    return { id, gone: true } as Row
  }
}

async function readIndex(tx: Transaction, boardId: string) {
  const [[document], cards, groups] = await Promise.all([
    tx<{ seq: number; card_count: number; is_counted: boolean; counts: boolean }[]>`
      select d.seq, d.card_count, d.is_counted, b.deleted_at is null and d.card_count > 0 as counts
      from board_documents d
      join boards b on b.id = d.board_id
      where d.board_id = ${boardId}`,
    tx<Record<string, unknown>[]>`
      select card_id as id, hash, anchors::text, ${tx([...indexColumns])}
      from card_index
      where board_id = ${boardId} and deleted_at is null`,
    tx<Record<string, unknown>[]>`
      select group_id as id, name, color, shape, outline, hash
      from group_index
      where board_id = ${boardId} and deleted_at is null`,
  ])
  if (!document) return null
  return {
    seq: document.seq,
    count: document.card_count,
    isCounted: document.is_counted,
    counts: document.counts,
    cards: new Map(cards.map((row) => [String(row['id']), row])),
    groups: new Map(groups.map((row) => [String(row['id']), row])),
  }
}
