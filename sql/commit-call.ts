/** Calls of `commit_batch`. A large one is sent in pieces: the driver encodes a statement in one step, at 5 ms a megabyte. */
import type { Sql } from 'postgres'

/** What `commit_batch` takes; see sql/functions/commit.sql. JSON parameters are passed as text. */
export interface CommitCall {
  commitId: string
  freeCardCap: number | null
  items: string
  blob: Uint8Array | readonly Uint8Array[]
  rows: Text
  groups: Text
  removed: Text
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
function* piecesOf(blobs: Iterable<Uint8Array>): Iterable<Buffer> {
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
