/**
 * The format of a segment: log rows that compaction has removed from the log, as a file.
 *
 *   uint32   length of the head, big-endian
 *   head     JSON: {version, rows: SegmentRow[]}
 *   updates  of all rows, as they were in the log
 *
 * All of it is compressed with Zstandard. It is part of Node, and decompresses much faster than gzip.
 */
import { promisify } from 'node:util'
import { zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { Cause } from '../../sql/commit-call.ts'
import type { Changes } from './changes.ts'
import { unframe } from './log.ts'

/** `unknown`: an older version wrote the row, and did not record how it was made. */
export type RecordedCause = Omit<Cause, 'by'> & { by: Cause['by'] | 'unknown'; changes: Changes }

export interface SegmentRow {
  seq: number
  /** The time of the commit, in milliseconds. */
  at: number
  /** Length of its updates in the log. */
  bytes: number
  causes: RecordedCause[]
}

const version = 1

export const encodeSegment = (rows: SegmentRow[], updates: Uint8Array[]): Uint8Array => {
  const head = Buffer.from(JSON.stringify({ version, rows }))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.byteLength)
  return compress(Buffer.concat([length, head, ...updates]))
}

export const compress = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes)
export const decompress = (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes)
/** The same without blocking the thread. */
export const decompressLater = promisify(zstdDecompress)

/** A row with its updates. */
export interface ReadRow extends SegmentRow {
  updates: Uint8Array[]
}

/** @throws for a file that is not a segment, or is cut off */
export function decodeSegment(file: Uint8Array): ReadRow[] {
  const bytes = Buffer.from(decompress(file))
  const length = bytes.readUInt32BE(0)
  const head = JSON.parse(bytes.subarray(4, 4 + length).toString()) as { version: number; rows: SegmentRow[] }
  if (head.version !== version) throw new Error(`A segment of version ${head.version} can't be read.`)
  let at = 4 + length
  const rows = head.rows.map((row) => {
    const updates = unframe(bytes.subarray(at, at + row.bytes))
    at += row.bytes
    return { ...row, updates }
  })
  if (at !== bytes.byteLength) throw new Error('A segment has another length than its rows.')
  return rows
}
