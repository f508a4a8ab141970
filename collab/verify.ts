/** Holds documents against the index: invariant "the index equals the documents", board by board. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { Database } from '../sql/database.ts'
import { cardsOf, groupsOf } from './canvas.ts'
import { replay, tail } from './log.ts'
import { projectCard, projectGroup, type CardRow, type GroupRow } from './project.ts'

export interface Difference {
  boardId: string
  what: 'card' | 'group' | 'count' | 'index'
  id: string
  /** `missing` in the index, `extra` there, `stale`: not what the document says. */
  fault: 'missing' | 'extra' | 'stale' | 'behind'
  detail: string
}

export interface VerifyOptions {
  /** Edits of the last seconds may not be indexed yet: how long to wait for that. */
  waitMs?: number
}

export async function boardIds(database: Database): Promise<string[]> {
  const rows = await database.asSystem(
    (tx) => tx<{ board_id: string }[]>`select board_id from board_documents order by board_id`,
  )
  return rows.map((row) => row.board_id)
}

/** @returns the differences of one board; none for a board that is not there */
export async function verifyBoard(
  database: Database,
  boardId: string,
  options: VerifyOptions = {},
): Promise<Difference[]> {
  const found = await compare(database, boardId, Date.now() + (options.waitMs ?? 10_000))
  return found?.differences ?? []
}

/** Rewrites the rows that differ. @returns what was mended */
export async function repairBoard(database: Database, boardId: string): Promise<Difference[]> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const found = await compare(database, boardId, 0)
    if (!found || found.differences.length === 0) return []
    const item = {
      n: 0,
      b: boardId,
      k: 'flush',
      pos: 0,
      len: 0,
      o: randomUUID(),
      c: 'rebuild',
      seen: found.seq,
      actors: [],
    }
    const answer = (await database.commit({
      commitId: randomUUID(),
      freeCardCap: null,
      items: JSON.stringify([item]),
      blob: new Uint8Array(),
      rows: found.rows.length > 0 ? JSON.stringify(found.rows.map((row) => ({ n: 0, ...row }))) : null,
      groups: found.groups.length > 0 ? JSON.stringify(found.groups.map((row) => ({ n: 0, ...row }))) : null,
      removed: null,
    })) as { items: unknown[] }
    if (answer.items.length > 0) continue // someone wrote meanwhile
    await database.asSystem(
      (tx) => tx`
        update board_documents d
        set card_count = (select count(*) from card_index c where c.board_id = d.board_id and c.deleted_at is null)
        where d.board_id = ${boardId}`,
    )
    return found.differences
  }
  throw new Error(`Board ${boardId} is written to all the time; it could not be repaired.`)
}

interface Comparison {
  seq: number
  differences: Difference[]
  rows: CardRow[]
  groups: GroupRow[]
}

async function compare(database: Database, boardId: string, until: number): Promise<Comparison | null> {
  for (;;) {
    const log = await tail(database, boardId, 0)
    if (!log) return null
    const index = await readIndex(database, boardId)
    if (!index) return null
    const behind = log.indexedSeq < log.seq
    if ((index.seq !== log.seq || behind) && Date.now() < until) {
      await delay(100)
      continue
    }
    const document = new Y.Doc()
    replay(document, log)
    const cards = differ(cardsOf(document).keys(), (id) => projectCard(document, id), index.cards)
    const groups = differ(groupsOf(document).keys(), (id) => projectGroup(document, id), index.groups)
    const differences: Difference[] = [
      ...cards.faults.map((fault) => ({ boardId, what: 'card' as const, ...fault })),
      ...groups.faults.map((fault) => ({ boardId, what: 'group' as const, ...fault })),
    ]
    if (index.count !== index.cards.size) {
      differences.push({
        boardId,
        what: 'count',
        id: '',
        fault: 'stale',
        detail: `counted ${index.count}, the index has ${index.cards.size}`,
      })
    }
    if (behind) {
      differences.push({
        boardId,
        what: 'index',
        id: '',
        fault: 'behind',
        detail: `indexed up to ${log.indexedSeq} of ${log.seq}`,
      })
    }
    document.destroy()
    return { seq: log.seq, differences, rows: cards.rows, groups: groups.rows }
  }
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
          (key) => !isDeepStrictEqual(there[key] ?? null, row[key as keyof Row] ?? null),
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

/** A card that cannot be read is left out of the index. */
function safely<Row extends { id: string; gone?: boolean }>(project: (id: string) => Row, id: string): Row {
  try {
    return project(id)
  } catch {
    return { id, gone: true } as Row
  }
}

async function readIndex(database: Database, boardId: string) {
  return database.asSystem(async (tx) => {
    const [[document], cards, groups] = await Promise.all([
      tx<
        { seq: number; card_count: number }[]
      >`select seq, card_count from board_documents where board_id = ${boardId}`,
      tx<Record<string, unknown>[]>`
        select card_id as id, kind, title, body, x, y, w, h, z, rotation, group_id, image_key, file_key, poster_key, url, identifiers, hash
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
      cards: new Map(cards.map((row) => [String(row['id']), row])),
      groups: new Map(groups.map((row) => [String(row['id']), row])),
    }
  })
}
