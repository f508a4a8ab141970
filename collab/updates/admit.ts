/**
 * What an editor's update has to pass before it is applied. y-protocols would swallow a malformed update after it
 * integrated half of it, and Hocuspocus would acknowledge it. Beyond what decodes, an update may hold what no Yjs
 * encoder writes and what would harm everybody who ever loads the document: such updates are refused as malformed.
 */
import * as Y from 'yjs'
import { closeCodes } from '../../core/errors.ts'
import { nestingFault } from './nesting.ts'

export interface AdmitBounds {
  /** Encoded size that a document may reach. */
  maxDocumentBytes: number
  /** Client ids that a document may have. Every transaction of Yjs goes over all of them, twice. */
  maxClients: number
  /** Levels of shared types, and of plain values in each: what reads them is recursive. */
  maxNesting: number
}

/** Ids up to here are Yjs' own random ones; above are the API's, one for each board. */
const maxEditorClient = 0xffffffff
/** Clocks end far below what a number holds exactly: a state vector beyond could not be read any more. */
const maxClock = 2 ** 48

export interface Refused {
  code: number
  reason: string
}

/** Null when a decoded update may be applied. `sizeBytes`: of the document with the update. */
export function refuseUpdate(
  document: Y.Doc,
  sizeBytes: number,
  { structs, ds }: ReturnType<typeof Y.decodeUpdate>,
  bounds: AdmitBounds,
): Refused | null {
  if (structs.length > 0 && sizeBytes > bounds.maxDocumentBytes) return closeCodes.tooBig
  if (!areDeletesOrdered(ds)) return closeCodes.badFrame

  const clients = new Set<number>()
  const room = bounds.maxClients - document.store.clients.size
  let newClients = 0
  let client = -1
  let end = 0
  for (const struct of structs) {
    const { id, length } = struct
    if (id.client === client) {
      if (id.clock !== end) return closeCodes.badFrame
    } else {
      client = id.client
      if (clients.has(client)) return closeCodes.badFrame // of two parts, applying would leave out the first
      clients.add(client)
      if (!document.store.clients.has(client) && ++newClients > room) return closeCodes.tooBig
    }
    end = id.clock + length
    if (length < 1 || end > maxClock) return closeCodes.badFrame
    // Forged; or this process is behind another one that its author comes from.
    const known = Y.getState(document.store, client)
    if (client > maxEditorClient && end > known) return closeCodes.tryLater
    if (id.clock < known && known < end && !continuesKnown(document, struct)) return closeCodes.tryLater
    if (!(struct instanceof Y.Item)) continue
    if (refersAhead(struct)) return closeCodes.badFrame // applying would break off there
    if (struct.content instanceof Y.ContentDoc) return closeCodes.badFrame // boards do not hold documents
  }
  const fault = nestingFault(document, structs, bounds.maxNesting)
  return fault ? closeCodes[fault] : null
}

/**
 * Whether a struct whose beginning the document holds is the one that it holds. Yjs puts the rest after what is there,
 * wherever that is; if the struct says that it lies elsewhere, it would lie here in memory and there in the log.
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
  if (origin || rightOrigin) return true // the parent is that of the neighbours
  const knownParent = known.parent as Y.AbstractType<unknown> | null
  const isSameParent =
    typeof parent === 'string'
      ? share.get(parent) === knownParent
      : Y.compareIDs(parent as Y.ID | null, knownParent?._item?.id ?? null)
  return isSameParent && parentSub === known.parentSub
}

/** Whether a struct hangs on itself or on a later one of its own author. */
function refersAhead({ id, origin, rightOrigin, parent }: Y.Item): boolean {
  const isAhead = (other: unknown) =>
    other instanceof Y.ID && other.client === id.client && other.clock >= id.clock
  return isAhead(origin) || isAhead(rightOrigin) || isAhead(parent)
}

/**
 * Whether the deleted ranges of each client ascend, as every encoder writes them. Each range splits structs; from the
 * end to the beginning, the cost of a million of them would be quadratic.
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

/** Whether a document holds all of an update, so that applying it would change nothing. Throws when it is malformed. */
export function holdsUpdate(document: Y.Doc, update: Uint8Array): boolean {
  const { structs, ds } = Y.decodeUpdate(update)
  const { store } = document
  for (const { id, length } of structs) if (id.clock + length > Y.getState(store, id.client)) return false
  for (const [client, ranges] of ds.clients) {
    const known = store.clients.get(client)
    for (const { clock, len } of ranges) {
      if (!known || clock + len > Y.getState(store, client)) return false
      for (let at = Y.findIndexSS(known, clock); at < known.length && known[at]!.id.clock < clock + len; at++)
        if (!known[at]!.deleted) return false
    }
  }
  return true
}
