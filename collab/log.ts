/** The update log of a board: how updates are framed in its rows, and how a document catches up with it. */
import * as Y from 'yjs'
import type { Database } from '../sql/database.ts'

/** Updates one after the other, each after its length as four bytes, big-endian. */
export function frame(updates: Uint8Array[]): Buffer {
  const framed = Buffer.allocUnsafe(updates.reduce((sum, update) => sum + 4 + update.byteLength, 0))
  let at = 0
  for (const update of updates) {
    at = framed.writeUInt32BE(update.byteLength, at)
    framed.set(update, at)
    at += update.byteLength
  }
  return framed
}

export function unframe(framed: Uint8Array): Uint8Array[] {
  const view = new DataView(framed.buffer, framed.byteOffset, framed.byteLength)
  const updates: Uint8Array[] = []
  for (let at = 0; at < framed.byteLength;) {
    const length = view.getUint32(at)
    updates.push(framed.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return updates
}

/**
 * Applies a log in one transaction. What is in it was applied before; should an update fail all the same, the others
 * are applied, since a board that cannot be loaded would be lost.
 */
export function replay(
  document: Y.Doc,
  log: { snapshot: Uint8Array | null; updates: Uint8Array[] },
  options: { origin?: unknown; failed?: (error: unknown) => void } = {},
): void {
  const attempt = (apply: () => void) => {
    try {
      apply()
    } catch (error) {
      options.failed?.(error)
    }
  }
  document.transact(() => {
    const { snapshot } = log
    if (snapshot) attempt(() => Y.applyUpdateV2(document, snapshot, options.origin))
    for (const update of log.updates) attempt(() => Y.applyUpdate(document, update, options.origin))
  }, options.origin)
}

/** A board's counters, as its row had them. */
export interface BoardHead {
  seq: number
  /** The card index holds everything up to this position. */
  indexedSeq: number
  apiClient: number
  apiClock: number
  topZ: number
  /** Log rows after the snapshot and their bytes. */
  logRows: number
  logBytes: number
}

export interface Tail extends BoardHead {
  workspaceId: string
  snapshotSeq: number
  snapshotBytes: number
  /** V2 encoding of all up to `snapshotSeq`; only when that is later than what was asked for. */
  snapshot: Uint8Array | null
  /** All updates after `from`, or after the snapshot. */
  updates: Uint8Array[]
}

interface TailRow {
  seq: number
  updates: Buffer | null
  snapshot: Buffer | null
  workspace_id: string | null
  head:
    | [
        indexed: number,
        client: number,
        clock: number,
        top: number,
        rows: number,
        bytes: number,
        snapshotSeq: number,
        snapshotBytes: number,
      ]
    | null
}

/**
 * What the log of a board holds after position `from`: one statement, one snapshot of the database.
 * Null when there is no such board.
 */
export async function tail(database: Database, boardId: string, from: number): Promise<Tail | null> {
  const rows = await database.asSystem(
    (tx) => tx<TailRow[]>`
      with document as (
        select * from board_documents where board_id = ${boardId}
      )
      select seq, null as updates, case when snapshot_seq > ${from} then snapshot end as snapshot, workspace_id,
        json_build_array(indexed_seq, api_client, api_clock, top_z, log_rows, log_bytes, snapshot_seq, coalesce(length(snapshot), 0)) as head
      from document
      union all
      (
        select u.seq, u.updates, null, null, null
        from document d
        join board_updates u on u.board_id = ${boardId} and u.seq > greatest(${from}::bigint, d.snapshot_seq)
        order by u.seq
      )`,
  )
  const head = rows.find((row) => row.head !== null)
  if (!head?.head || head.workspace_id === null) return null
  const log = rows.filter((row) => row !== head)
  const [indexedSeq, apiClient, apiClock, topZ, logRows, logBytes, snapshotSeq, snapshotBytes] = head.head
  log.sort((a, b) => a.seq - b.seq)
  return {
    workspaceId: head.workspace_id,
    seq: head.seq,
    indexedSeq,
    apiClient,
    apiClock,
    topZ,
    logRows,
    logBytes,
    snapshotSeq,
    snapshotBytes,
    snapshot: head.snapshot,
    updates: log.flatMap((row) => (row.updates ? unframe(row.updates) : [])),
  }
}
