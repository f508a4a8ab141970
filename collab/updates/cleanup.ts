/** Keeps what Yjs does at the end of a transaction linear (`cleanupTransactions` of yjs 13.6). */
import * as Y from 'yjs'

/** With fewer deleted clocks, Yjs's own way takes less than a millisecond. */
const manyClocks = 1000

/**
 * Yjs would take quadratic time for two things:
 *
 * - Formats: for each deleted item it visits all formatting marks beside it. It does not clean them up here. Editors clean
 *   up their own documents, and send the deletions as updates.
 * - Merging: for each run of deleted structs that it merges, it moves the rest of their client's array. After large deletions
 *   the runs are merged here, in one pass, so that Yjs finds them merged. Deleting 30,000 cards took 2.9 s, and takes 0.3 s.
 */
export function limitCleanup(document: Y.Doc): void {
  document.on('afterTransaction', (transaction) => {
    transaction._needFormattingCleanup = false
  })
  document.on('beforeObserverCalls', ({ deleteSet }) => {
    // Added now, so that it runs after all other listeners: they may read what was deleted.
    if (isLarge(deleteSet)) document.once('afterTransaction', collectDeleted)
  })
}

type DeleteSet = Y.Transaction['deleteSet']
type Struct = Y.Item | Y.GC

const isLarge = ({ clients }: DeleteSet): boolean => {
  let clocks = 0
  for (const ranges of clients.values()) for (const { len } of ranges) clocks += len
  return clocks > manyClocks
}

function collectDeleted({ deleteSet, doc: { store, gc, gcFilter } }: Y.Transaction): void {
  const deleted = [...deleteSet.clients].map(([client, ranges]) => ({
    structs: store.clients.get(client)!,
    ranges,
  }))
  // First all of it: collecting a type collects its children, which other clients may have made.
  if (gc)
    for (const { structs, ranges } of deleted)
      for (const { clock, len } of ranges)
        for (let at = Y.findIndexSS(structs, clock); at < structs.length; at++) {
          const struct = structs[at]!
          if (struct.id.clock >= clock + len) break
          if (struct instanceof Y.Item && struct.deleted && !struct.keep && gcFilter(struct))
            struct.gc(store, false)
        }
  for (const { structs, ranges } of deleted) mergeRanges(structs, ranges)
}

/**
 * Merges the structs of deleted ranges with each other and with what is beside them, as `tryToMergeWithLefts` of Yjs does,
 * but from the left and in one pass.
 *
 * @param ranges in order
 */
function mergeRanges(structs: Struct[], ranges: { clock: number; len: number }[]): void {
  let next = 0
  // The structs up to `kept` are done, those from `next` on are as they were.
  let kept = -1
  const keepUpTo = (end: number) => {
    if (kept + 1 === next) kept = Math.max(kept, end - 1)
    else for (let at = next; at < end; at++) structs[(kept += 1)] = structs[at]!
    next = Math.max(next, end)
  }
  for (const { clock, len } of ranges) {
    keepUpTo(Math.max(next, indexOf(structs, clock, next)))
    for (; next < structs.length; next++) {
      const struct = structs[next]!
      if (struct.id.clock > clock + len) break
      if (kept < 0 || !isMerged(structs[kept]!, struct)) structs[(kept += 1)] = struct
    }
  }
  keepUpTo(structs.length)
  structs.length = kept + 1
}

/** The index of the struct at a clock, at or after `from`. */
function indexOf(structs: Struct[], clock: number, from: number): number {
  let [low, high] = [from, structs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (structs[middle]!.id.clock + structs[middle]!.length <= clock) low = middle + 1
    else high = middle
  }
  return low
}

/** Merges each collected struct between the indexes `begin` and `end` with the one before it. */
export function mergeCollected(structs: Struct[], begin: number, end: number): void {
  let kept = begin
  for (let at = begin + 1; at < end; at++) {
    const right = structs[at]!
    if (!(right instanceof Y.GC && isMerged(structs[kept]!, right))) structs[(kept += 1)] = right
  }
  structs.splice(kept + 1, end - kept - 1)
}

function isMerged(left: Struct, right: Struct): boolean {
  if (left.deleted !== right.deleted || left.constructor !== right.constructor) return false
  if (!left.mergeWith(right as never)) return false
  if (right instanceof Y.Item && right.parentSub !== null) {
    const { _map: entries } = right.parent as Y.AbstractType<unknown>
    if (entries.get(right.parentSub) === right) entries.set(right.parentSub, left as Y.Item)
  }
  return true
}
