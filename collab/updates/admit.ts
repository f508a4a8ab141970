/**
 * Checks an editor's update before it is applied. y-protocols would ignore the error of a malformed update after
 * integrating half of it, and Hocuspocus would acknowledge it. An update that can be decoded may still contain structs
 * that no Yjs encoder writes. Some of them would harm everybody who loads the document. Such updates are refused as
 * malformed.
 */
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import { nestingFault } from './nesting.ts'

export interface AdmitBounds {
  /** Largest encoded size of a document. */
  maxDocumentBytes: number
  /** Largest number of client ids in a document. Each Yjs transaction iterates over all of them twice. */
  maxClients: number
  /**
   * Largest number of root types in a document. Yjs makes each one that an update names, also when nothing of the update
   * can be applied yet.
   */
  maxRoots: number
  /** Largest nesting depth of shared types, and of plain values in each. The code that reads them is recursive. */
  maxNesting: number
}

/** Yjs' own random client ids end here. Higher ids are the API's, one for each board. */
const maxEditorClient = 0xffffffff
/** Longest name of a root type. */
const maxRootName = 1000
/** Clocks must stay far below the largest exact integer. Otherwise state vectors could not be read any more. */
const maxClock = 2 ** 48

export interface Refused {
  code: number
  reason: string
}

/**
 * Checks a decoded update. Returns null when it may be applied. `sizeBytes`: the document's size including the update.
 */
export function refuseUpdate(
  document: Y.Doc,
  sizeBytes: number,
  decoded: ReturnType<typeof Y.decodeUpdate>,
  bounds: AdmitBounds,
): Refused | null {
  const { structs, ds } = decoded
  if (structs.length > 0 && sizeBytes > bounds.maxDocumentBytes) return closeCodes.tooBig
  if (!areDeletesOrdered(ds)) return closeCodes.badFrame

  const clients = new Set<number>()
  const room = bounds.maxClients - document.store.clients.size
  const newRoots = new Set<string>()
  const rootsLeft = bounds.maxRoots - document.share.size
  let newClients = 0
  let client = -1
  let end = 0
  for (const struct of structs) {
    const { id, length } = struct
    if (id.client === client) {
      if (id.clock !== end) return closeCodes.badFrame
    } else {
      client = id.client
      if (clients.has(client)) return closeCodes.badFrame // applying would skip the first of two parts
      clients.add(client)
      if (!document.store.clients.has(client) && ++newClients > room) return closeCodes.tooBig
    }
    end = id.clock + length
    if (length < 1 || end > maxClock) return closeCodes.badFrame
    // The update is forged, or this process is behind the one whose updates the editor has seen.
    const known = Y.getState(document.store, client)
    if (client > maxEditorClient && end > known) return closeCodes.tryLater
    if (id.clock < known && known < end && !continuesKnown(document, struct)) return closeCodes.tryLater
    if (!(struct instanceof Y.Item)) continue
    if (refersAhead(struct)) return closeCodes.badFrame // applying would fail there
    if (struct.content instanceof Y.ContentDoc) return closeCodes.badFrame // boards have no subdocuments
    const parent: unknown = struct.parent
    if (typeof parent === 'string' && !document.share.has(parent)) {
      newRoots.add(parent)
      if (newRoots.size > rootsLeft || parent.length > maxRootName) return closeCodes.tooBig
    }
  }
  const fault = nestingFault(document, decoded, bounds.maxNesting)
  return fault ? closeCodes[fault] : null
}

/**
 * Whether a struct that the document already contains in part is the same struct. Yjs appends the rest to the known
 * part, wherever that is. If the struct names another place, its place in memory would differ from that in the log.
 */
function continuesKnown({ store, share }: Y.Doc, struct: Y.Item | Y.GC | Y.Skip): boolean {
  const { client, clock } = struct.id
  const structs = store.clients.get(client)!
  const known = structs[Y.findIndexSS(structs, clock)]!
  if (!(struct instanceof Y.Item && known instanceof Y.Item)) return struct.constructor === known.constructor
  const { origin, rightOrigin, parent, parentSub } = struct
  if (known.id.clock < clock)
    return (
      origin?.client === client && origin.clock === clock - 1 && Y.compareIDs(rightOrigin, known.rightOrigin)
    )
  if (!Y.compareIDs(origin, known.origin) || !Y.compareIDs(rightOrigin, known.rightOrigin)) return false
  if (origin || rightOrigin) return true // then the parent is that of its neighbours
  const knownParent = known.parent as Y.AbstractType<unknown> | null
  const isSameParent =
    typeof parent === 'string'
      ? share.get(parent) === knownParent
      : Y.compareIDs(parent as Y.ID | null, knownParent?._item?.id ?? null)
  return isSameParent && parentSub === known.parentSub
}

/** Whether a struct refers to itself or to a later struct of the same client. */
function refersAhead({ id, origin, rightOrigin, parent }: Y.Item): boolean {
  const isAhead = (other: unknown) =>
    other instanceof Y.ID && other.client === id.client && other.clock >= id.clock
  return isAhead(origin) || isAhead(rightOrigin) || isAhead(parent)
}

/**
 * Whether the deleted ranges of each client are in ascending order, as every encoder writes them. Each range splits
 * structs. A million ranges in descending order would take quadratic time.
 */
function areDeletesOrdered(ds: ReturnType<typeof Y.decodeUpdate>['ds']): boolean {
  for (const ranges of ds.clients.values()) {
    let end = 0
    for (const { clock, len } of ranges) {
      if (len < 1 || clock < end || clock + len > maxClock) return false
      end = clock + len
    }
  }
  return true
}

/** Whether a struct is deleted, also if it is not cleared yet: by the deletion of a type that it is in. */
function isDeleted(struct: Y.Item | Y.GC): boolean {
  for (let one: Y.Item | Y.GC | null = struct; one; one = parentOf(one)) if (one.deleted) return true
  return false
}

const parentOf = (struct: Y.Item | Y.GC): Y.Item | null =>
  struct instanceof Y.Item ? ((struct.parent as Y.AbstractType<unknown> | null)?._item ?? null) : null

/**
 * Whether a document contains the whole update, so that applying it would change nothing. Throws when it is malformed.
 */
export function holdsUpdate(document: Y.Doc, update: Uint8Array): boolean {
  const { structs, ds } = Y.decodeUpdate(update)
  const { store } = document
  for (const { id, length } of structs) if (id.clock + length > Y.getState(store, id.client)) return false
  for (const [client, ranges] of ds.clients) {
    const known = store.clients.get(client)
    for (const { clock, len } of ranges) {
      if (!known || clock + len > Y.getState(store, client)) return false
      for (let at = Y.findIndexSS(known, clock); at < known.length && known[at]!.id.clock < clock + len; at++)
        if (!isDeleted(known[at]!)) return false
    }
  }
  return true
}
