/**
 * Checks where an update would place its structs: how deep it nests shared types and plain values, and whether it
 * writes map entries as no editor does.
 *
 * Yjs deletes, collects and reads nested types recursively, here and in every browser. A depth that one stack can
 * handle may overflow another.
 */
import * as Y from 'yjs'
import { isPlainObject } from '../../core/card-values.ts'

type Decoded = ReturnType<typeof Y.decodeUpdate>
type Structs = Decoded['structs']

/** Values in one plain value. A larger one takes too long each time it is decoded or read. */
const maxValues = 100_000
/** A key of an object costs as much as this many values of a list. */
const valuesPerKey = 5

/** Returns `badFrame` for values that are too deep or misplaced, `tooBig` for too many values, null otherwise. */
export function nestingFault(
  document: Y.Doc,
  { structs, ds }: Decoded,
  maxNesting: number,
): 'badFrame' | 'tooBig' | null {
  let places: Places | null = null
  for (const struct of structs) {
    if (!(struct instanceof Y.Item)) continue
    const { content, parent, length } = struct
    if (content instanceof Y.ContentType) {
      if (typeof parent === 'string') continue
      places ??= new Places(document, structs, maxNesting)
      if (places.depthOf(struct) > maxNesting) return 'badFrame'
      continue
    }
    // A map's entry has one value. With several values, memory and log would delete and merge them differently. Only an
    // editor with undo writes such an entry: it keeps values that it has replaced, and merges them when they are deleted.
    if (length > 1 && !(content instanceof Y.ContentDeleted || isDeletedWhole(ds, struct))) {
      places ??= new Places(document, structs, maxNesting)
      if (places.isEntry(struct)) return 'badFrame'
    }
    const fault = valuesFault(plainValues(content), maxNesting)
    if (fault) return fault
  }
  return null
}

/** Whether one of an update's deleted ranges, which are in order, covers all of an item. */
function isDeletedWhole(ds: Decoded['ds'], { id, length }: Y.Item): boolean {
  const ranges = ds.clients.get(id.client) ?? []
  let low = 0
  for (let high = ranges.length; low < high;) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.clock + ranges[middle]!.len <= id.clock) low = middle + 1
    else high = middle
  }
  const range = ranges[low]
  return range !== undefined && range.clock <= id.clock && id.clock + length <= range.clock + range.len
}

/** Checks the plain values of one struct. This needs no document. */
export function valuesFault(values: unknown[], maxNesting: number): 'badFrame' | 'tooBig' | null {
  const budget = { left: maxValues }
  for (const value of values)
    if (!isWithin(value, maxNesting, budget)) return budget.left < 0 ? 'tooBig' : 'badFrame'
  return null
}

function plainValues(content: Y.Item['content']): unknown[] {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr
  if (content instanceof Y.ContentEmbed) return [content.embed]
  return content instanceof Y.ContentFormat ? [content.value] : []
}

function isWithin(value: unknown, levels: number, budget: { left: number }): boolean {
  budget.left -= 1
  if (budget.left < 0) return false
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true
  // An object that was read with a key __proto__ would be written to the log in a different form.
  if (levels === 0 || !(Array.isArray(value) || isPlainObject(value))) return false
  const values: unknown[] = Array.isArray(value) ? value : Object.values(value)
  if (!Array.isArray(value)) budget.left -= (valuesPerKey - 1) * values.length
  for (const inner of values) if (!isWithin(inner, levels - 1, budget)) return false
  return true
}

/**
 * Finds where the items of an update are placed. An item names its parent, or a neighbour with the same parent. Each
 * may be in the document or in the update itself. The chain may be long, and may be a circle, so the search is not
 * recursive. An item whose chain leaves both has to wait for missing edits, and is checked again then.
 */
class Places {
  readonly #document: Y.Doc
  readonly #maxDepth: number
  readonly #structs: Structs
  #clients: Map<number, Structs> | null = null
  readonly #depths = new Map<Y.Item, number>()
  readonly #entries = new Map<Y.Item, boolean>()

  constructor(document: Y.Doc, structs: Structs, maxDepth: number) {
    this.#document = document
    this.#structs = structs
    this.#maxDepth = maxDepth
  }

  /** The number of types above an item; 0 directly under a root. */
  depthOf(item: Y.Item): number {
    const way = new Map<Y.Item, number>()
    let climbed = 0
    let depth = 0
    for (let at: Y.Item | null = item; at !== null;) {
      const known = this.#depths.get(at)
      if (known !== undefined || way.has(at)) {
        depth = known ?? Infinity
        break
      }
      way.set(at, climbed)
      const neighbour = neighbourOf(at)
      const above: Y.ID | null = neighbour ?? (at.parent instanceof Y.ID ? at.parent : null)
      if (!above) break
      if (!neighbour) climbed += 1
      const found = this.#find(above)
      if (found?.isKnown) depth = this.#depthInDocument(found.item)
      at = found && !found.isKnown ? found.item : null
    }
    for (const [passed, climbedBefore] of way) this.#depths.set(passed, climbed + depth - climbedBefore)
    return climbed + depth
  }

  /** Whether an item is an entry of a map. */
  isEntry(item: Y.Item): boolean {
    const way = new Set<Y.Item>()
    let isEntry = false
    for (let at: Y.Item | null = item; at !== null && !way.has(at);) {
      const known = this.#entries.get(at)
      if (known !== undefined) {
        isEntry = known
        break
      }
      way.add(at)
      const neighbour = neighbourOf(at)
      const found: Found | null = neighbour && this.#find(neighbour)
      if (!neighbour) isEntry = at.parentSub !== null
      else if (found?.isKnown) isEntry = found.item.parentSub !== null
      at = found && !found.isKnown ? found.item : null
    }
    for (const passed of way) this.#entries.set(passed, isEntry)
    return isEntry
  }

  #find(id: Y.ID): Found | null {
    const { store } = this.#document
    if (id.clock < Y.getState(store, id.client)) {
      const item: unknown = Y.getItem(store, id)
      return item instanceof Y.Item ? { item, isKnown: true } : null
    }
    const structs = this.#structsOf(id.client)
    let low = 0
    let high = structs.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const struct = structs[middle]!
      if (struct.id.clock > id.clock) high = middle - 1
      else if (struct.id.clock + struct.length <= id.clock) low = middle + 1
      else return struct instanceof Y.Item ? { item: struct, isKnown: false } : null
    }
    return null
  }

  #structsOf(client: number): Structs {
    this.#clients ??= Map.groupBy(this.#structs, ({ id }) => id.client)
    return this.#clients.get(client) ?? []
  }

  #depthInDocument(item: Y.Item): number {
    let depth = 0
    for (let at: Y.Item | null = item; at !== null && depth <= this.#maxDepth;) {
      const parent: unknown = at.parent
      at = parent instanceof Y.AbstractType ? parent._item : null
      if (at) depth += 1
    }
    return depth
  }
}

interface Found {
  item: Y.Item
  /** Whether the item is in the document already. */
  isKnown: boolean
}

const neighbourOf = (item: Y.Item): Y.ID | null => item.origin ?? item.rightOrigin
