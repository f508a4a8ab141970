/** The items of a commit. Each item belongs to one board. */
import { bytesOf } from '../log/log.ts'
import type { BoardQueue, HalfWrite, PendingWrite, SingleWrite } from './board-queue.ts'
import type { FlushRows } from './committing-document.ts'
import type { BuiltWrite } from './write-request.ts'

interface ItemOfQueue {
  queue: BoardQueue
  updates: Uint8Array[]
}

export interface EditItem extends ItemOfQueue {
  kind: 'edit'
  count: number
  actors: string[]
  /** Bytes that guests added, by account; undefined when no guest wrote. */
  guests?: Record<string, number> | undefined
}

export interface FlushItem extends ItemOfQueue {
  kind: 'flush'
  flush: FlushRows
  seen: number
}

interface ItemOfWrite<Write extends PendingWrite> extends ItemOfQueue {
  kind: 'write'
  write: Write
}

interface Built {
  built: BuiltWrite
  /** The API clock at which its updates begin; null when they take no clock. */
  clock: number | null
  /** The log position that it depends on; null when it depends on none. */
  seen: number | null
  /** Bytes that are reserved for it in the owner's document storage. */
  reservedBytes: number
}

export interface SingleItem extends ItemOfWrite<SingleWrite>, Built {
  form: 'single'
}

/** Half of a pair. The other half is in the same commit; both succeed, or neither. */
export interface HalfItem extends ItemOfWrite<HalfWrite>, Built {
  form: 'half'
  /**
   * Whether the owner's storage had too little room. Then the commit refuses the pair with `full`, unless the account
   * may not write at all.
   */
  isFull: boolean
}

/** A write of a board whose head is not known. The commit refuses it, or returns the head so that it can be built. */
export interface HeadProbe extends ItemOfWrite<SingleWrite> {
  form: 'head probe'
}

/**
 * A write for which the owner's storage has too little room. The commit refuses it with `full`, unless the account may
 * not write at all.
 */
export interface FullItem extends ItemOfWrite<SingleWrite> {
  form: 'full'
}

export type WriteItem = SingleItem | HalfItem | HeadProbe | FullItem
export type BatchItem = EditItem | WriteItem | FlushItem

/** The built change of a write; null for a write that is sent without it. */
export function builtOf(item: WriteItem): Built | null {
  return item.form === 'single' || item.form === 'half' ? item : null
}

/** A commit with this many index rows takes so long that it runs beside the others. */
const largeRows = 2500

/** Estimated bytes that each index row adds to a commit. */
const rowBytes = 300

function rowsOf(item: BatchItem): number {
  if (item.kind === 'flush') return item.flush.rows.length
  return item.kind === 'write' ? (builtOf(item)?.built.rows.length ?? 0) : 0
}

export function isLarge(items: BatchItem[]): boolean {
  return items.reduce((sum, item) => sum + rowsOf(item), 0) >= largeRows
}

export function itemBytes(item: BatchItem): number {
  return bytesOf(item.updates) + rowsOf(item) * rowBytes
}

/** Whether the batch can't be divided: one item, or the two of a pair. */
export function isIndivisible(batch: BatchItem[]): boolean {
  const [first, second] = batch.map((item) =>
    item.kind === 'write' && item.form === 'half' ? item.write.pair : item,
  )
  return batch.length === 1 || (batch.length === 2 && first === second)
}

/** An item of the board's first edits, up to `maxBytes`. They stay in the queue until they are committed. */
export function editItem(queue: BoardQueue, maxBytes: number): EditItem {
  const edits = queue.edits.first(maxBytes)
  return {
    kind: 'edit',
    queue,
    updates: edits.map((edit) => edit.update),
    count: edits.length,
    actors: [...new Set(edits.flatMap((edit) => edit.actors))],
    guests: sumOf(edits.flatMap(({ guests }) => guests ?? [])),
  }
}

/** Sums the guests’ bytes by account. Undefined: no guest sent any. */
function sumOf(additions: ReadonlyMap<string, number>[]): Record<string, number> | undefined {
  if (additions.length === 0) return undefined
  const sums: Record<string, number> = {}
  for (const addition of additions)
    for (const [account, bytes] of addition) sums[account] = (sums[account] ?? 0) + bytes
  return sums
}
