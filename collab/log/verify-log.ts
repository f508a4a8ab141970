/**
 * Reads a board's log row by row, for `verify`: finds missing and unreadable rows, and derives counters and times from
 * the others.
 */
import * as Y from 'yjs'
import type { Database } from '../../sql/database.ts'
import { cardsOf } from '../canvas/canvas.ts'
import type { Difference } from './difference.ts'
import { isFramed, unframe } from './log.ts'

type LogFault = Pick<Difference, 'id' | 'fault' | 'detail'>

/** A board's counters, as stored in its row or as derived from its log. */
interface Counters {
  api_clock: number
  log_rows: number
  log_bytes: number
}

export interface ReadLog {
  seq: number
  indexedSeq: number
  document: Y.Doc
  /** Empty when the document contains everything that was ever committed. */
  faults: LogFault[]
  /** When each card was created in the log. Null when a part of the log exists only in the snapshot. */
  births: Map<string, Date> | null
  stored: Counters
  derived: Counters
}

interface HeadRow extends Counters {
  seq: number
  indexed_seq: number
  snapshot: Buffer | null
  snapshot_seq: number
  api_client: number
}

interface LogRow {
  seq: number
  updates: Buffer
  created_at: Date
}

/** @returns null when the board does not exist */
export async function readLog(database: Database, boardId: string): Promise<ReadLog | null> {
  // One statement sees one state of the database, so no compaction comes between the board's row and its log.
  const found = await database.asSystem(
    (tx) => tx<(HeadRow & LogRow)[]>`
      with document as (
        select * from board_documents where board_id = ${boardId}
      )
      select seq, indexed_seq, snapshot, snapshot_seq, api_client, api_clock, log_rows, log_bytes,
        null::bytea as updates, null::timestamptz as created_at
      from document
      union all
      select u.seq, null, null, null, null, null, null, null, u.updates, u.created_at
      from board_updates u
      join document d on u.board_id = d.board_id and u.seq > d.snapshot_seq`,
    'background',
  )
  const head = found.find((row) => row.updates === null)
  const after = found.filter((row) => row !== head).sort((a, b) => a.seq - b.seq)
  if (!head) return null
  const { document, faults, births } = replayRows(head, after)
  return {
    seq: head.seq,
    indexedSeq: head.indexed_seq,
    document,
    faults: [...missingRows(head, after), ...faults],
    births: head.snapshot_seq === 0 ? births : null,
    stored: head,
    derived: {
      api_clock: Y.getState(document.store, head.api_client),
      log_rows: after.length,
      log_bytes: after.reduce((sum, row) => sum + row.updates.byteLength, 0),
    },
  }
}

function replayRows(head: HeadRow, rows: LogRow[]) {
  const document = new Y.Doc()
  const faults: LogFault[] = []
  const births = new Map<string, Date>()
  const attempt = (id: string, apply: () => void) => {
    try {
      apply()
    } catch (error) {
      faults.push({ id, fault: 'unreadable', detail: String(error) })
    }
  }
  const cards = cardsOf(document)
  let row: LogRow | null = null
  cards.observe(({ changes }) => {
    for (const [id, { action }] of changes.keys)
      if (row && action === 'add' && !births.has(id)) births.set(id, row.created_at)
  })
  if (head.snapshot) attempt('snapshot', () => Y.applyUpdateV2(document, head.snapshot!))
  else if (head.snapshot_seq > 0)
    faults.push({ id: 'snapshot', fault: 'missing', detail: `the rows up to ${head.snapshot_seq} are gone` })
  for (row of rows) {
    const { updates } = row
    attempt(String(row.seq), () => {
      if (!isFramed(updates)) throw new Error('its lengths do not add up')
      for (const update of unframe(updates)) {
        Y.decodeUpdate(update)
        Y.applyUpdate(document, update)
      }
    })
  }
  const { pendingStructs, pendingDs } = document.store
  if (pendingStructs || pendingDs) {
    const detail = pendingStructs
      ? `structs wait for those of ${pendingStructs.missing.size} clients`
      : 'deletions wait for the items that they delete'
    faults.push({ id: '', fault: 'pending', detail })
  }
  return { document, faults, births }
}

/** Finds missing rows. Adjacent missing rows are one fault. */
function missingRows(head: HeadRow, rows: LogRow[]): LogFault[] {
  const faults: LogFault[] = []
  let expected = head.snapshot_seq + 1
  const gap = (before: number) => {
    if (expected >= before) return
    const id = expected === before - 1 ? String(expected) : `${expected}-${before - 1}`
    faults.push({ id, fault: 'missing', detail: '' })
  }
  for (const { seq } of rows) {
    gap(seq)
    expected = seq + 1
  }
  gap(head.seq + 1)
  return faults
}
