/** Calls of `commit_batch`. A large one is sent in pieces: the driver encodes a statement in one step, at 5 ms a megabyte. */
import type { Sql } from 'postgres'

/** What `commit_batch` takes; see sql/functions/commit.sql. JSON parameters are passed as text. */
export interface CommitCall {
  commitId: string
  freeCardCap: number | null
  /** `CommitItem[]` as JSON. */
  items: string
  blob: Uint8Array | readonly Uint8Array[]
  rows: Text
  groups: Text
  removed: Text
}

/**
 * One element of `items`. An item's board has its items in the order of `n`. Null means the same as no value.
 * The SQL type `commit_item` has the same fields.
 */
export interface CommitItem {
  n: number
  board: string
  /**
   * - `edit`: updates of editors. They were admitted at the socket and are appended without a condition.
   * - `write`: a write of the API. It may be refused.
   * - `part`: index rows for some of what editors changed.
   * - `flush`: index rows for the rest of it.
   */
  kind: 'edit' | 'write' | 'part' | 'flush'
  /** Id of the request or flush, for the index rows. */
  op?: string
  /** For the index rows. */
  cause?: 'api' | 'editor' | 'move' | 'rebuild'
  /** Of a write: the account whose rights decide. */
  account?: string
  /** Whose updates these are. */
  actors: string[]
  /** Where its framed updates are in the blob: offset and length in bytes. Length 0: it has none. */
  blob_at: number
  blob_bytes: number
  /** The API clock that it starts at; null when it makes no structs. */
  clock?: number | null
  /** How far it moves the API clock. */
  used?: number
  /** The log position that its author had seen; null when it does not depend on the document. */
  seen?: number | null
  /** Cards that it adds, for the cap. */
  adds?: number
  /** The highest `z` that it sets. */
  top_z?: number | null
  /**
   * `n` of the write on another board that it goes with: both are written, or neither. A write with a partner is its
   * board's only one in the call, and has `seen`.
   */
  partner?: number | null
  /** What no other card of the board may carry. `cards`: those that carry it themselves. */
  claims?: { identifiers: { scope: string; value: string }[]; cards: string[] } | null
  /** Of a write: what its request records; see functions/operations.sql. `made` replaces the ids of new cards and groups. */
  operation?: object | null
  /** Of a write: files that its cards name and the board's workspace may not have, and the owner's quotas in bytes. */
  files?: { keys: string[]; free: number; pro: number }
  /** Of a write that adds bytes: how many, and the owner's quotas of documents in bytes. */
  room?: { bytes: number; free: number; pro: number }
  /** Of a write: the owner's storage of documents has no place for what it adds. */
  is_full?: boolean
  /** Of an edit: bytes that guests add, by account. */
  guests?: Record<string, number>
}

/** Whole, or in pieces. */
type Text = string | readonly string[] | null

const pieceBytes = 512 * 1024

/** @returns its answer */
export async function callCommit(
  sql: Sql<{ bigint: number }>,
  call: CommitCall,
  again: boolean,
): Promise<unknown> {
  const { commitId, freeCardCap, items, blob } = call
  const blobs = blob instanceof Uint8Array ? [blob] : blob
  const size = [...blobs, ...textsOf(call.rows), ...textsOf(call.groups), ...textsOf(call.removed)].reduce((sum, { length }) => sum + length, 0) // prettier-ignore
  if (size <= pieceBytes) {
    const [row] = await sql<{ answer: unknown }[]>`
      select commit_batch(
        ${commitId}, ${again}, ${freeCardCap}, ${items}::text::json, ${Buffer.concat(blobs)},
        ${whole(call.rows)}::text::json, ${whole(call.groups)}::text::json, ${whole(call.removed)}::text::json
      ) as answer`
    return row?.answer
  }
  const parts: [string, Iterable<Buffer>][] = [
    ['blob', piecesOf(blobs)],
    ['rows', piecesOf(bytesOf(call.rows))],
    ['groups', piecesOf(bytesOf(call.groups))],
    ['removed', piecesOf(bytesOf(call.removed))],
  ]
  let count = 0
  for (const [part, pieces] of parts) {
    let n = 0
    for (const piece of pieces) {
      await sql`select stage_commit_piece(${commitId}, ${part}, ${n++}, ${piece})`
      count += 1
    }
  }
  const [row] = await sql<{ answer: unknown }[]>`
    select commit_staged(${commitId}, ${again}, ${freeCardCap}, ${items}::text::json, ${count}) as answer`
  return row?.answer
}

const textsOf = (text: Text): readonly string[] => (typeof text === 'string' ? [text] : (text ?? []))

const whole = (text: Text): string | null => (text === null ? null : textsOf(text).join(''))

function* bytesOf(text: Text): Iterable<Uint8Array> {
  for (const piece of textsOf(text)) yield Buffer.from(piece)
}

/** The same bytes in pieces of about the same size. */
export function* piecesOf(blobs: Iterable<Uint8Array>): Iterable<Buffer> {
  let open: Uint8Array[] = []
  let size = 0
  for (const blob of blobs) {
    for (let at = 0; at < blob.byteLength;) {
      const part = blob.subarray(at, at + pieceBytes - size)
      open.push(part)
      at += part.byteLength
      size += part.byteLength
      if (size < pieceBytes) continue
      yield Buffer.concat(open)
      open = []
      size = 0
    }
  }
  if (size > 0) yield Buffer.concat(open)
}
