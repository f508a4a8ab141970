/**
 * Cuts an update into parts that have the same effect when applied in order. Each part is small enough for one turn of
 * the event loop, and depends only on earlier parts and the document. Large updates are cut in a worker thread, because
 * even decoding one may take longer than a turn.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { encodeUpdate, type DeletedRange, type Struct } from './encode.ts'
import { leastStepsOfDeletes } from './meter.ts'
import { valuesFault } from './nesting.ts'
import { scanUpdate, type Place, type Scan } from './scan.ts'

type DeleteSet = ReturnType<typeof Y.decodeUpdate>['ds']

/** An update up to this size is decoded on the main thread. The worst case, two bytes per struct, takes about 10 ms. */
export const smallUpdateBytes = 64 * 1024

/** Structs in one part: about 6 ms of work (see `turnMs` in gateway/inbox.ts). A part also ends with the struct that exceeds `smallUpdateBytes`. */
const maxStructs = 1500
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
  let fault: 'badFrame' | 'tooBig' | null = null
  const parts = cut(update, {
    onValues: (values) => (fault ??= valuesFault(values, maxNesting)),
    isRefused: (deletes) => fault !== null || leastStepsOfDeletes(deletes.clients) > maxSteps,
  })
  if (parts === 'refused') return fault ?? 'tooCostly'
  return parts ?? 'badFrame'
}

/**
 * @returns the parts in order; null when the update is malformed: a client occurs twice, or structs depend on each
 * other in a circle
 */
export const cutUpdate = (update: Uint8Array): Uint8Array[] | null =>
  cut(update, { onValues: () => undefined, isRefused: () => false }) as Uint8Array[] | null

interface Checks {
  onValues(values: unknown[]): void
  isRefused(deletes: DeleteSet): boolean
}

function cut(update: Uint8Array, { onValues, isRefused }: Checks): Uint8Array[] | 'refused' | null {
  try {
    const scan = scanUpdate(update, onValues)
    const deletes = decodeDeletes(update, scan)
    if (isRefused(deletes)) return 'refused'
    const ordered = inCausalOrder(scan)
    return ordered && [...cutStructs(update, ordered), ...cutDeletes(deletes)]
  } catch {
    return null
  }
}

/** Decodes the deletions alone: as those of an update without structs. */
const decodeDeletes = (update: Uint8Array, { deletesAt }: Scan): DeleteSet =>
  Y.decodeUpdate(Buffer.concat([Uint8Array.of(0), update.subarray(deletesAt)])).ds

/** Returns what an update deletes; null when it is malformed. */
export function deletesOf(update: Uint8Array): DeleteSet | null {
  try {
    return decodeDeletes(update, scanUpdate(update))
  } catch {
    return null
  }
}

/** Separates the structs of an update from its deletions, which are cut into parts. */
export function cutOffDeletes(document: Y.Doc, structs: Struct[], ds: DeleteSet): Uint8Array[] {
  const clients = new Map(
    [...ds.clients].map(([client, ranges]) => [client, cutRanges(document, client, ranges)]),
  )
  const roomOf = (client: number, range: DeletedRange) =>
    1 + (maxRanges * structsWithin(document, client, range)) / maxStructs
  return [...(structs.length > 0 ? [encodeStructs(structs)] : []), ...cutDeletes({ clients }, roomOf)]
}

/** The number of structs of a document that an update deletes. */
export function countDeleted(document: Y.Doc, ds: DeleteSet): number {
  let count = 0
  for (const [client, ranges] of ds.clients)
    for (const range of ranges) count += structsWithin(document, client, range)
  return count
}

/** Whether deleting takes more than one turn. */
export const isManyDeleted = (count: number): boolean => count > maxStructs

function structsWithin({ store }: Y.Doc, client: number, { clock, len }: DeletedRange): number {
  const end = Math.min(clock + len, Y.getState(store, client))
  if (end <= clock) return 0
  const structs = store.clients.get(client)!
  return 1 + Y.findIndexSS(structs, end - 1) - Y.findIndexSS(structs, clock)
}

/** Cuts ranges so that each deletes at most `maxStructs` structs of the document. */
function cutRanges(document: Y.Doc, client: number, ranges: readonly DeletedRange[]): DeletedRange[] {
  return ranges.flatMap((range) => {
    const count = structsWithin(document, client, range)
    if (count <= maxStructs) return [range]
    const structs = document.store.clients.get(client)!
    const first = Y.findIndexSS(structs, range.clock)
    const cuts = [range.clock]
    for (let at = maxStructs; at < count; at += maxStructs) cuts.push(structs[first + at]!.id.clock)
    return cuts.map((clock, at) => ({ clock, len: (cuts[at + 1] ?? range.clock + range.len) - clock }))
  })
}

export const countRanges = (ds: DeleteSet): number =>
  [...ds.clients.values()].reduce((sum, ranges) => sum + ranges.length, 0)

/**
 * Sorts the structs so that each follows those that it depends on. Structs that the update lacks must be in the
 * document.
 */
function inCausalOrder({ lines }: Scan): Place[] | null {
  const progress = new Map(lines.map(({ client, places }) => [client, { places, at: 0 }]))
  if (progress.size < lines.length) return null
  const ordered: Place[] = []
  for (const client of progress.keys()) {
    const way = [{ client, until: Infinity }]
    const onWay = new Set([client])
    while (way.length > 0) {
      const { client: of, until } = way.at(-1)!
      const line = progress.get(of)!
      const place = line.places[line.at]
      if (!place || place.clock > until) {
        way.pop()
        onWay.delete(of)
        continue
      }
      const missing = place.others?.find((id) => isAhead(progress.get(id.client), id))
      if (!missing) {
        ordered.push(place)
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

/** Whether an id is in a line of the update, and not sorted yet. */
function isAhead(line: { places: Place[]; at: number } | undefined, { clock }: Y.ID): boolean {
  const next = line?.places[line.at]
  const last = line?.places.at(-1)
  return next !== undefined && clock >= next.clock && clock < last!.clock + last!.length
}

function cutStructs(update: Uint8Array, structs: Place[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let first = 0
  for (let at = 0, sizeBytes = 0; at < structs.length; at++) {
    const { from, to } = structs[at]!
    sizeBytes += to - from
    if (at + 1 - first < maxStructs && sizeBytes < smallUpdateBytes && at + 1 < structs.length) continue
    parts.push(copyStructs(update, structs.slice(first, at + 1)))
    first = at + 1
    sizeBytes = 0
  }
  return parts
}

/** Makes an update of structs, each client's without gaps. Their bytes are copied. */
function copyStructs(update: Uint8Array, structs: Place[]): Uint8Array {
  const ofClients = Map.groupBy(structs, ({ client }) => client)
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, ofClients.size)
  for (const [client, ofClient] of ofClients) {
    encoding.writeVarUint(encoder, ofClient.length)
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ofClient[0]!.clock)
    for (const { from, to } of ofClient) encoding.writeUint8Array(encoder, update.subarray(from, to))
  }
  encoding.writeVarUint(encoder, 0) // no deletions
  return encoding.toUint8Array(encoder)
}

/** @param roomOf how much of a part's room, which is `maxRanges`, a range takes */
function cutDeletes(
  { clients }: { clients: ReadonlyMap<number, readonly DeletedRange[]> },
  roomOf: (client: number, range: DeletedRange) => number = () => 1,
): Uint8Array[] {
  const parts: Uint8Array[] = []
  let part = new Map<number, DeletedRange[]>()
  let room = maxRanges
  const endPart = () => {
    if (part.size > 0) parts.push(encodeUpdate(new Map(), part))
    part = new Map()
    room = maxRanges
  }
  for (const [client, ranges] of clients)
    for (const range of ranges) {
      const needed = roomOf(client, range)
      if (needed > room) endPart()
      part.getOrInsert(client, []).push(range)
      room -= needed
    }
  endPart()
  return parts
}

const encodeStructs = (structs: Struct[]): Uint8Array =>
  encodeUpdate(
    Map.groupBy(structs, ({ id }) => id.client),
    new Map(),
  )
