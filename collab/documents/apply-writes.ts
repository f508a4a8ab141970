/** Applies committed API writes of this process to the document in memory. */
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import type { CommittedWrite } from '../commit/committing-document.ts'
import { bytesOf } from '../log/log.ts'
import { nothingIndexed, type LogOrigin } from './origin.ts'

/**
 * Bytes of updates that are applied in one transaction. They take up to 15 ms, when they only move cards. A commit with
 * more is applied in several turns.
 */
export const partBytes = 64 * 1024

/**
 * Applies the writes part by part, and yields the bytes of each part.
 *
 * @param failed called for an update that can't be applied completely. The update is committed, so an exception here
 * would make the caller write it again.
 */
export function* applyWrites(
  document: Document,
  writes: CommittedWrite[],
  failed: (error: unknown) => void,
): Iterable<number> {
  for (const { updates, cards, groups } of partsOf(writes)) {
    // Editors' structs may wait for these updates. Then more than the written cards may change.
    const isAwaited = document.store.pendingStructs !== null
    const origin: LogOrigin = {
      source: 'local',
      skipStoreHooks: false,
      fromLog: true,
      indexed: isAwaited ? nothingIndexed : { cards, groups },
    }
    Y.transact(document, () => applyAll(document, updates, origin, failed), origin, false)
    const sizeBytes = bytesOf(updates)
    // Send each large part alone. Before a joint broadcast they would be merged, which takes 20 ms per megabyte.
    if (sizeBytes >= partBytes) document.flush()
    yield sizeBytes
  }
}

function applyAll(
  document: Y.Doc,
  updates: Uint8Array[],
  origin: LogOrigin,
  failed: (error: unknown) => void,
): void {
  for (const update of updates) {
    try {
      Y.applyUpdate(document, update, origin)
    } catch (error) {
      failed(error)
    }
  }
}

interface Part {
  updates: Uint8Array[]
  cards: Set<string>
  groups: Set<string>
  cost: number
}

/**
 * Divides large writes, and joins small ones: each transaction costs in proportion to the clients of the document, and as
 * much as three small writes. The index rows of all writes are in the commit.
 */
function* partsOf(writes: CommittedWrite[]): Iterable<Part> {
  let part: Part | null = null
  for (const { updates: all, cards, groups } of writes) {
    for (const updates of piecesOf(all)) {
      const cost = costOf(updates)
      if (part && part.cost + cost > partBytes) {
        yield part
        part = null
      }
      part ??= { updates: [], cards: new Set(), groups: new Set(), cost: 0 }
      part.updates.push(...updates)
      part.cost += cost
      for (const card of cards) part.cards.add(card)
      for (const group of groups) part.groups.add(group)
    }
  }
  if (part) yield part
}

/** Divides a write. */
function* piecesOf(updates: Uint8Array[]): Iterable<Uint8Array[]> {
  let from = 0
  for (let to = 1; to <= updates.length; to++) {
    const piece = updates.slice(from, to)
    if (to < updates.length && costOf(piece) < partBytes) continue
    yield piece
    from = to
  }
}

/**
 * The cost of applying the updates of a write, in bytes. A write with several updates has large ones (`nextChange` of
 * UpdateBuilder), even if they have few bytes because they only delete.
 */
export const costOf = (updates: Uint8Array[]): number =>
  updates.length === 1
    ? updates[0]!.byteLength
    : updates.reduce((sum, { byteLength }) => sum + Math.max(byteLength, largeUpdateBytes), 0)

const largeUpdateBytes = 16 * 1024
