/**
 * Cuts an update into parts that have the same effect when applied in order. Each part is small enough for one turn of
 * the event loop, and depends only on earlier parts and the document. Large updates are cut in a worker thread, because
 * even decoding one may take longer than a turn.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { encodeUpdate, type Struct } from './encode.ts'
import { leastStepsOfDeletes } from './meter.ts'
import { valuesFault } from './nesting.ts'

type DeleteSet = ReturnType<typeof Y.decodeUpdate>['ds']

/** An update up to this size is decoded on the main thread. The worst case, two bytes per struct, takes about 10 ms. */
export const smallUpdateBytes = 64 * 1024

/** Structs in one part. A part also ends with the struct that exceeds `smallUpdateBytes`. */
const maxStructs = 5000
/** Deleted ranges in one part. Each may shift the rest of a client's struct array, whose length is unlimited. */
export const maxRanges = 64

/**
 * Cuts an editor's update. First checks its plain values, and its deletions. Such values take long to decode, and a
 * million deletions take minutes of the account's share before they prove too costly.
 *
 * @param maxSteps the steps that the update may take (meter.ts)
 * @returns the parts, or the fault of the update
 */
export function cutReceived({
  update,
  maxNesting,
  maxSteps,
}: {
  update: Uint8Array
  maxNesting: number
  maxSteps: number
}): Uint8Array[] | 'badFrame' | 'tooBig' | 'tooCostly' {
  try {
    const { structs, ds } = Y.decodeUpdate(update)
    const fault = valuesFault(structs, maxNesting)
    if (fault) return fault
    if (leastStepsOfDeletes(ds.clients) > maxSteps) return 'tooCostly'
  } catch {
    return 'badFrame'
  }
  return cutUpdate(update) ?? 'badFrame'
}

/**
 * @returns the parts in order; null when the update is malformed: a client occurs twice, or structs depend on each
 * other in a circle
 */
export function cutUpdate(update: Uint8Array): Uint8Array[] | null {
  try {
    const { structs, ds } = Y.decodeUpdate(update)
    const ordered = inCausalOrder(structs)
    return ordered && [...cutStructs(ordered), ...cutDeletes(ds)]
  } catch {
    return null
  }
}

/** Separates the structs of an update from its deletions, which are cut into parts. */
export function cutOffDeletes(structs: Struct[], ds: DeleteSet): Uint8Array[] {
  return [...(structs.length > 0 ? [encodeStructs(structs)] : []), ...cutDeletes(ds)]
}

export const countRanges = (ds: DeleteSet): number =>
  [...ds.clients.values()].reduce((sum, ranges) => sum + ranges.length, 0)

interface Line {
  readonly structs: Struct[]
  /** The index of the next struct. */
  at: number
}

/**
 * Sorts the structs so that each follows those that it depends on. Structs that the update lacks must be in the
 * document.
 */
function inCausalOrder(structs: Struct[]): Struct[] | null {
  const lines = new Map<number, Line>()
  for (const [at, struct] of structs.entries()) {
    const { client } = struct.id
    const line = lines.get(client)
    if (!line) lines.set(client, { structs: [struct], at: 0 })
    else if (structs[at - 1]!.id.client === client) line.structs.push(struct)
    else return null
  }
  const ordered: Struct[] = []
  for (const client of lines.keys()) {
    const way = [{ client, until: Infinity }]
    const onWay = new Set([client])
    while (way.length > 0) {
      const { client: of, until } = way.at(-1)!
      const line = lines.get(of)!
      const struct = line.structs[line.at]
      if (!struct || struct.id.clock > until) {
        way.pop()
        onWay.delete(of)
        continue
      }
      const missing = missingOf(struct, lines)
      if (missing === null) {
        ordered.push(struct)
        line.at += 1
      } else if (onWay.has(missing.client)) return null
      else {
        onWay.add(missing.client)
        way.push({ client: missing.client, until: missing.clock })
      }
    }
  }
  return ordered
}

/** Returns the first id that a struct depends on and that is not sorted yet. Null: all of them are sorted. */
function missingOf(struct: Struct, lines: Map<number, Line>): Y.ID | null {
  if (!(struct instanceof Y.Item)) return null
  for (const other of [struct.origin, struct.rightOrigin, struct.parent]) {
    if (!(other instanceof Y.ID) || other.client === struct.id.client) continue
    const line = lines.get(other.client)
    const next = line?.structs[line.at]
    const last = line?.structs.at(-1)
    if (next && last && other.clock >= next.id.clock && other.clock < last.id.clock + last.length)
      return other
  }
  return null
}

function cutStructs(structs: Struct[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let first = 0
  for (let at = 0, sizeBytes = 0; at < structs.length; at++) {
    sizeBytes += sizeOf(structs[at]!)
    if (at + 1 - first < maxStructs && sizeBytes < smallUpdateBytes && at + 1 < structs.length) continue
    parts.push(encodeStructs(structs.slice(first, at + 1)))
    first = at + 1
    sizeBytes = 0
  }
  return parts
}

function sizeOf(struct: Struct): number {
  const encoder = new Y.UpdateEncoderV1()
  struct.write(encoder, 0)
  return encoding.length(encoder.restEncoder)
}

function cutDeletes(ds: DeleteSet): Uint8Array[] {
  const parts: Uint8Array[] = []
  let part: typeof ds.clients = new Map()
  let room = maxRanges
  const endPart = () => {
    if (part.size > 0) parts.push(encodeUpdate(new Map(), part))
    part = new Map()
    room = maxRanges
  }
  for (const [client, ranges] of ds.clients)
    for (let at = 0; at < ranges.length;) {
      const some = ranges.slice(at, at + room)
      part.set(client, some)
      at += some.length
      room -= some.length
      if (room === 0) endPart()
    }
  endPart()
  return parts
}

const encodeStructs = (structs: Struct[]): Uint8Array =>
  encodeUpdate(
    Map.groupBy(structs, ({ id }) => id.client),
    new Map(),
  )
