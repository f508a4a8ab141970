/**
 * The format of a segment: log rows that compaction has removed from the log, as a file.
 *
 *   uint32   length of the head, big-endian
 *   head     JSON: `Head`
 *   times    of the rows: six bytes for each difference, column by column
 *   updates  first the short ones, column by column; then the long ones
 *
 * All of it is compressed with Zstandard, which is part of Node and decompresses much faster than gzip. The values of a
 * column are alike, so an update takes 3.4 bytes with who made it and when. Row by row it took 14. So it was in version 1,
 * whose head has the rows, and whose updates are as they were in the log.
 */
import { promisify } from 'node:util'
import { constants, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { Cause } from '../../sql/commit-call.ts'
import type { Changes } from './changes.ts'
import { bytesOf, unframe } from './log.ts'

/** `unknown`: an older version wrote the row, and did not record how it was made. */
export type RecordedCause = Omit<Cause, 'by'> & { by: Cause['by'] | 'unknown'; changes: Changes }

export interface SegmentRow {
  seq: number
  /** The time of the commit, in milliseconds. */
  at: number
  /** Length of its updates in the log, where each has four bytes for its length. */
  bytes: number
  causes: RecordedCause[]
}

const version = 2

/** The rows in columns. */
interface Head {
  version: number
  /** As are `lengths` and `causes`: differences to the one before; the first one to 0. */
  seq: number[]
  /** Numbers of updates of the rows, and the lengths of all updates. */
  counts: number[]
  lengths: number[]
  /** For each row, the index in `distinct`. */
  causes: number[]
  distinct: RecordedCause[][]
}

/** @param updates those of all rows, in order */
export function encodeSegment(rows: Omit<SegmentRow, 'bytes'>[], updates: Uint8Array[]): Uint8Array {
  const distinct = new Map<string, number>()
  const causes = rows.map((row) => {
    const text = JSON.stringify(row.causes)
    return distinct.getOrInsertComputed(text, () => distinct.size)
  })
  const head: Omit<Head, 'distinct'> = {
    version,
    seq: differences(rows.map(({ seq }) => seq)),
    counts: rows.map((row) => row.causes.reduce((sum, { n }) => sum + n, 0)),
    lengths: differences(updates.map(({ byteLength }) => byteLength)),
    causes: differences(causes),
  }
  const json = Buffer.from(
    `${JSON.stringify(head).slice(0, -1)},"distinct":[${[...distinct.keys()].join(',')}]}`,
  )
  const length = Buffer.alloc(4)
  length.writeUInt32BE(json.byteLength)
  const times = differences(rows.map(({ at }) => at)).map((difference) => {
    const bytes = Buffer.alloc(timeBytes)
    bytes.writeIntLE(difference, 0, timeBytes)
    return bytes
  })
  return compress(Buffer.concat([length, json, ...columnsOf(times), ...columnsOf(updates)]))
}

const differences = (values: number[]) => values.map((value, n) => value - (values[n - 1] ?? 0))

function sums(values: number[]): number[] {
  let sum = 0
  return values.map((value) => (sum += value))
}

const timeBytes = 6

/** Updates up to this length are compared with each other: one of somebody who types differs in a byte or two. */
const shortBytes = 128

/** Each byte of a column is the difference to the one before. */
function columnsOf(updates: Uint8Array[]): Uint8Array[] {
  const short = updates.filter(({ byteLength }) => byteLength <= shortBytes)
  const columns = new Uint8Array(bytesOf(short))
  let to = 0
  inColumns(short, (update, at, before) => (columns[to++] = update[at]! - before))
  return [columns, ...updates.filter(({ byteLength }) => byteLength > shortBytes)]
}

function updatesOf(bytes: Uint8Array, lengths: number[]): Uint8Array[] {
  const whole = new Uint8Array(bytes.byteLength)
  let end = 0
  const updates = lengths.map((length) => whole.subarray(end, (end += length)))
  let from = 0
  inColumns(
    updates.filter(({ byteLength }) => byteLength <= shortBytes),
    (update, at, before) => (update[at] = bytes[from++]! + before),
  )
  for (const update of updates) {
    if (update.byteLength <= shortBytes) continue
    update.set(bytes.subarray(from, from + update.byteLength))
    from += update.byteLength
  }
  return updates
}

/** Visits the bytes of short updates column by column, each with the byte before it in its column. */
function inColumns(
  updates: Uint8Array[],
  visit: (update: Uint8Array, at: number, before: number) => void,
): void {
  let left = updates
  for (let at = 0; left.length > 0; at++) {
    left = left.filter(({ byteLength }) => byteLength > at)
    let before = 0
    for (const update of left) {
      visit(update, at, before)
      before = update[at]!
    }
  }
}

/** What somebody types makes small files. At this level they take a tenth less, and 15 ms. */
const small = { bytes: 256 * 1024, level: 17 }
const level = 6

export const compress = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, {
    params: {
      [constants.ZSTD_c_compressionLevel]: bytes.byteLength <= small.bytes ? small.level : level,
    },
  })
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
  const from = 4 + bytes.readUInt32BE(0)
  const head = JSON.parse(bytes.subarray(4, from).toString()) as Head
  if (head.version === 1) return rowsOfVersion1(bytes, from, head as unknown as { rows: SegmentRow[] })
  if (head.version !== version) throw new Error(`A segment of version ${head.version} can't be read.`)
  const { counts, distinct } = head
  const [lengths, causes] = [sums(head.lengths), sums(head.causes)]
  const ofTimes = counts.length * timeBytes
  if (from + ofTimes + lengths.reduce((sum, length) => sum + length, 0) !== bytes.byteLength)
    throw otherLength()
  const times = updatesOf(bytes.subarray(from, from + ofTimes), Array<number>(counts.length).fill(timeBytes))
  const updates = updatesOf(bytes.subarray(from + ofTimes), lengths)
  const seq = sums(head.seq)
  const at = sums(times.map((time) => Buffer.from(time).readIntLE(0, timeBytes)))
  let next = 0
  return counts.map((count, n): ReadRow => {
    const some = updates.slice(next, (next += count))
    const row = { seq: seq[n]!, at: at[n]!, causes: distinct[causes[n]!]!, updates: some }
    return { ...row, bytes: bytesOf(some) + 4 * count }
  })
}

function rowsOfVersion1(bytes: Buffer, from: number, { rows }: { rows: SegmentRow[] }): ReadRow[] {
  let at = from
  const read = rows.map((row): ReadRow => {
    const updates = unframe(bytes.subarray(at, at + row.bytes))
    at += row.bytes
    return { ...row, updates }
  })
  if (at !== bytes.byteLength) throw otherLength()
  return read
}

const otherLength = () => new Error('A segment has another length than its rows.')
