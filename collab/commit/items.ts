/** What a commit is made of: items, each with what one board contributes. */
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
  /** Bytes that guests added, by account; left out when none did. */
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
  /** The API clock that its updates begin at; null when they take none. */
  clock: number | null
  /** The log position that it depends on; null when it depends on none. */
  seen: number | null
  /** Room that it holds in the owner's storage of documents. */
  reservedBytes: number
}

export interface SingleItem extends ItemOfWrite<SingleWrite>, Built {
  form: 'single'
}

/** Half of a pair: the other half is in the same commit, and both go through or neither does. */
export interface HalfItem extends ItemOfWrite<HalfWrite>, Built {
  form: 'half'
  /** There was too little room: the commit refuses it, unless the account may not write at all. */
  isFull: boolean
}

/** A write of a board whose head is not known. The commit refuses it, or brings the head with which it is built. */
export interface HeadProbe extends ItemOfWrite<SingleWrite> {
  form: 'head probe'
}

/** A write for which there is too little room. The commit says so, unless the account may not write at all. */
export interface FullItem extends ItemOfWrite<SingleWrite> {
  form: 'full'
}

export type WriteItem = SingleItem | HalfItem | HeadProbe | FullItem
export type BatchItem = EditItem | WriteItem | FlushItem

/** Null for a write that goes without its change. */
export function builtOf(item: WriteItem): Built | null {
  return item.form === 'single' || item.form === 'half' ? item : null
}

/** From so many index rows on a commit takes so long that it goes beside the others. */
const largeRows = 2500

/** About as much as its index rows add to a commit. */
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

/** What cannot go in smaller parts: one item, or the two of a pair. */
export function isIndivisible(batch: BatchItem[]): boolean {
  const [first, second] = batch.map((item) =>
    item.kind === 'write' && item.form === 'half' ? item.write.pair : item,
  )
  return batch.length === 1 || (batch.length === 2 && first === second)
}

/** The first edits of a board, up to `maxBytes`; they stay in its queue until they are committed. */
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

/** Bytes by account; undefined for none. */
function sumOf(additions: ReadonlyMap<string, number>[]): Record<string, number> | undefined {
  if (additions.length === 0) return undefined
  const sums: Record<string, number> = {}
  for (const addition of additions)
    for (const [account, bytes] of addition) sums[account] = (sums[account] ?? 0) + bytes
  return sums
}
