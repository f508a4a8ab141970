/**
 * What an editor's frame has to pass before it is applied. y-protocols would swallow a malformed update after it
 * integrated half of it, and Hocuspocus would acknowledge it.
 */
import * as Y from 'yjs'
import { closeCodes } from '../core/errors.ts'

export interface AdmitBounds {
  /** Encoded size that a document may reach. */
  maxDocumentBytes: number
  /** Structs that wait for others that never came. */
  maxPendingBytes: number
}

/** Ids up to here are Yjs' own random ones; above are the API's, one for each board. */
const maxEditorClient = 0xffffffff

export interface Refused {
  code: number
  reason: string
}

/** Null when the update may be applied. */
export function refuseUpdate(
  document: Y.Doc,
  sizeBytes: number,
  update: Uint8Array,
  bounds: AdmitBounds,
): Refused | null {
  if (sizeBytes + update.byteLength > bounds.maxDocumentBytes && update.byteLength > 2)
    return closeCodes.tooBig
  let decoded: ReturnType<typeof Y.decodeUpdate>
  try {
    decoded = Y.decodeUpdate(update)
  } catch {
    return closeCodes.badFrame
  }
  for (const struct of decoded.structs) {
    const { client, clock } = struct.id
    if (client > maxEditorClient && clock + struct.length > Y.getState(document.store, client))
      return closeCodes.forbidden
  }
  return null
}

/** What waits for missing structs: it is not in any 'update' event, yet it is acknowledged, so it has to be logged. */
export interface Pending {
  structs: Y.Doc['store']['pendingStructs']
  deletes: Y.Doc['store']['pendingDs']
}

export const pendingOf = (document: Y.Doc): Pending => ({
  structs: document.store.pendingStructs,
  deletes: document.store.pendingDs,
})

export const samePending = (a: Pending, b: Pending): boolean =>
  a.structs === b.structs && a.deletes === b.deletes

export const pendingBytes = (pending: Pending): number =>
  (pending.structs?.update.byteLength ?? 0) + (pending.deletes?.byteLength ?? 0)

export function restorePending(document: Y.Doc, pending: Pending): void {
  document.store.pendingStructs = pending.structs
  document.store.pendingDs = pending.deletes
}
