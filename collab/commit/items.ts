/** The items of a commit. Each item belongs to one board. */
import type { Cause } from '../../sql/commit-call.ts'
import { bytesOf } from '../log/log.ts'
import type { BoardQueue, PendingWrite } from './board-queue.ts'
import type { QueuedEdit } from './edit-backlog.ts'
import type { FlushRows } from './committing-document.ts'
import type { BuiltWrite } from './write-request.ts'

interface ItemOfQueue {
  queue: BoardQueue
  updates: Uint8Array[]
}

interface EditItem extends ItemOfQueue {
  kind: 'edit'
  count: number
  actors: string[]
  causes: Cause[]
  /** Bytes that guests added, by account; undefined when no guest wrote. */
  guests?: Record<string, number> | undefined
}

export interface FlushItem extends ItemOfQueue {
  kind: 'flush'
  flush: FlushRows
  seen: number
}

/** A write, or the half of a pair. Both halves are in the same commit; both succeed, or neither. */
export interface WriteItem extends ItemOfQueue {
  kind: 'write'
  write: PendingWrite
  /** Null for a write that is sent without its change; see `unbuilt`. */
  built: BuiltWrite | null
  /** The API clock at which its updates begin; null when they take no clock. */
  clock: number | null
  /** The log position that it depends on; null when it depends on none. */
  seen: number | null
  /** Bytes that are reserved for it in the owner's document storage. */
  reservedBytes: number
  /**
   * Where the owner has too little room; null: nowhere. Then the commit refuses the write with `full`, unless the account
   * may not write at all.
   */
  full: Full | null
}

export type Full = 'storage' | 'memory'

export type BatchItem = EditItem | WriteItem | FlushItem

/** No board has this clock, so the commit either refuses a write with it or answers `again`. */
const noClock = -1

/**
 * A write without its change.
 *
 * - `probe`: the head of its board is not known. The commit refuses it, or returns the head so that it can be built.
 * - `full`: the owner's storage has too little room for it. The commit refuses it.
 */
export function unbuilt(queue: BoardQueue, write: PendingWrite, why: 'probe' | Full): WriteItem {
  const full = why === 'probe' ? null : why
  const clock = full ? null : noClock
  return {
    kind: 'write',
    queue,
    write,
    updates: [],
    built: null,
    clock,
    seen: null,
    reservedBytes: 0,
    full,
  }
}

/** A commit with this many index rows takes so long that it runs beside the others. */
const largeRows = 2500

/** Estimated bytes that each index row adds to a commit. */
const rowBytes = 300

function rowsOf(item: BatchItem): number {
  if (item.kind === 'flush') return item.flush.rows.length
  return item.kind === 'write' ? (item.built?.rows.length ?? 0) : 0
}

export function isLarge(items: BatchItem[]): boolean {
  return items.reduce((sum, item) => sum + rowsOf(item), 0) >= largeRows
}

export function itemBytes(item: BatchItem): number {
  return bytesOf(item.updates) + rowsOf(item) * rowBytes
}

/** Whether the batch can't be divided: one item, or the two of a pair. */
export function isIndivisible(batch: BatchItem[]): boolean {
  return new Set(batch.map((item) => (item.kind === 'write' ? item.write : item))).size === 1
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
    causes: causesOf(edits),
    guests: sumOf(edits.flatMap(({ guests }) => guests ?? [])),
  }
}

/** One cause for each run of edits by the same accounts. */
function causesOf(edits: QueuedEdit[]): Cause[] {
  const causes: Cause[] = []
  for (const { actors, tokens = [] } of edits) {
    const last = causes.at(-1)
    if (last && isSame(last.accounts, actors) && isSame(last.tokens, tokens)) last.n += 1
    else causes.push({ n: 1, by: 'editor', accounts: actors, tokens })
  }
  return causes
}

const isSame = (some: string[] = [], others: string[]) =>
  some.length === others.length && some.every((id, at) => id === others[at])

function sumOf(additions: ReadonlyMap<string, number>[]): Record<string, number> | undefined {
  if (additions.length === 0) return undefined
  const sums: Record<string, number> = {}
  for (const addition of additions)
    for (const [account, bytes] of addition) sums[account] = (sums[account] ?? 0) + bytes
  return sums
}
