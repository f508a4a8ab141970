/**
 * Rewrites history without a card. Runs in a worker thread.
 *
 * Yjs needs the ids of all items, because later items name them. So an item of the card keeps its id, and loses its content:
 * the card's entry in the map of cards becomes a deleted item, everything inside becomes garbage, as when Yjs collects it.
 */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { fileKeysWithin } from '../../core/file.ts'
import { moved } from '../../platform/work/moved.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import type { Changes } from '../log/changes.ts'
import { documentOf, replay } from '../log/log.ts'
import { compress, decodeSegment, decompress, encodeSegment, type ReadRow } from '../log/segment.ts'
import { encodeUpdate, type Struct } from '../updates/encode.ts'

export interface Run {
  /** A base and the segments up to the next base; or a version alone. */
  base: Uint8Array | null
  segments: Uint8Array[]
  cardId: string
}

export interface Rewritten {
  /** Items that were emptied, and changes that named the card. */
  removed: number
  /** Boards that the card was moved from or to. */
  boards: string[]
  /** Keys of files that the rest may name. */
  fileKeys: string[]
  /** By segment: bytes of its rows in the log. */
  rowBytes: number[]
}

/**
 * @returns JSON of `Rewritten`; then the base, if there is one, and the segments
 * @throws when the rest would not be what it was
 */
export function rewriteRun({ base, segments, cardId }: Run): Uint8Array[] {
  const rows = segments.map(decodeSegment)
  const updates = rows.flat().flatMap((row) => row.updates)
  const snapshot = base && decompress(base)
  const document = new Y.Doc({ gc: false })
  replay(document, { snapshot, updates }, { failed: fail })
  const eraser = new Eraser(document, cardId)
  const cutBase =
    snapshot && (eraser.erase(Y.decodeUpdateV2(snapshot)) ?? Y.convertUpdateFormatV2ToV1(snapshot))
  const cutRows = rows.map((some) => some.map((row) => withoutCard(row, eraser, cardId)))
  const cutUpdates = cutRows.flat().flatMap((row) => row.updates)
  requireSame(
    document,
    documentOf({ snapshot: null, updates: [...(cutBase ? [cutBase] : []), ...cutUpdates] }, fail),
    cardId,
  )
  const rewritten: Rewritten = {
    removed:
      eraser.erased +
      rows.flat().filter(({ causes }) => causes.some((cause) => names(cause.changes, cardId))).length,
    boards: [...new Set(rows.flat().flatMap((row) => boardsOf(row, cardId)))],
    fileKeys: [...new Set([...(cutBase ? [cutBase] : []), ...cutUpdates].flatMap(fileKeysWithin))],
    rowBytes: cutRows.map((some) => some.reduce((sum, { bytes }) => sum + bytes, 0)),
  }
  return moved([
    Buffer.from(JSON.stringify(rewritten)),
    ...(cutBase
      ? [compress(Y.encodeStateAsUpdateV2(documentOf({ snapshot: null, updates: [cutBase] }, fail)))]
      : []),
    ...cutRows.map((some) =>
      encodeSegment(
        some,
        some.flatMap((row) => row.updates),
      ),
    ),
  ])
}

const fail = (error: unknown) => {
  throw error
}

function withoutCard(row: ReadRow, eraser: Eraser, cardId: string): ReadRow {
  const updates = row.updates.map((update) => eraser.erase(Y.decodeUpdate(update)) ?? update)
  const bytes = updates.reduce((sum, { byteLength }) => sum + 4 + byteLength, 0)
  const causes = row.causes.map(({ changes, ...cause }) => ({
    ...cause,
    changes: changesWithout(changes, cardId),
  }))
  return { ...row, updates, bytes, causes }
}

const names = ({ added, removed, changed }: Changes, cardId: string) =>
  added.includes(cardId) || removed.includes(cardId) || Object.hasOwn(changed, cardId)

function changesWithout(changes: Changes, cardId: string): Changes {
  const { [cardId]: _gone, ...changed } = changes.changed
  const others = (ids: string[]) => ids.filter((id) => id !== cardId)
  return { ...changes, added: others(changes.added), removed: others(changes.removed), changed }
}

const boardsOf = ({ causes }: ReadRow, cardId: string) =>
  causes.flatMap(({ other, changes }) => (other && names(changes, cardId) ? [other] : []))

class Eraser {
  readonly #document: Y.Doc
  readonly #cards: Y.AbstractType<unknown>
  readonly #cardId: string
  /** Types whose place is known: whether they are inside the card. */
  readonly #inside = new Map<Y.AbstractType<unknown>, boolean>()
  erased = 0

  constructor(document: Y.Doc, cardId: string) {
    this.#document = document
    this.#cards = cardsOf(document) as unknown as Y.AbstractType<unknown>
    this.#cardId = cardId
  }

  /** @returns the update (V1) without the card's content; null when it had none */
  erase({ structs, ds }: ReturnType<typeof Y.decodeUpdate>): Uint8Array | null {
    const before = this.erased
    const left = structs.map((struct) => this.#emptied(struct))
    if (this.erased === before) return null
    return encodeUpdate(
      Map.groupBy(left, ({ id }) => id.client),
      ds.clients,
    )
  }

  #emptied(struct: Struct): Struct {
    if (!(struct instanceof Y.Item) || struct.content instanceof Y.ContentDeleted) return struct
    const { id, length, origin, rightOrigin, parent, parentSub } = struct
    const found = this.#find(id)
    if (found instanceof Y.Item && !this.#isInside(found)) return struct
    this.erased += 1
    // An item whose parent was collected before the base can't be seen. Nothing tells whose it was.
    if (!(found instanceof Y.Item) || !this.#isEntry(found)) return new Y.GC(id, length)
    return new Y.Item(id, null, origin, null, rightOrigin, parent, parentSub, new Y.ContentDeleted(length))
  }

  #find({ client, clock }: Y.ID): Y.Item | Y.GC {
    const structs = this.#document.store.clients.get(client)
    if (!structs || clock >= Y.getState(this.#document.store, client))
      throw new Error('Updates build on others that are not in the history.')
    return structs[Y.findIndexSS(structs, clock)]!
  }

  #isEntry = ({ parent, parentSub }: Y.Item) => parent === this.#cards && parentSub === this.#cardId

  #isInside(item: Y.Item): boolean {
    const way: Y.AbstractType<unknown>[] = []
    let inside: boolean | undefined
    for (let one: Y.Item | null = item; inside === undefined;) {
      const parent: Y.AbstractType<unknown> | null = one && (one.parent as Y.AbstractType<unknown>)
      if (!one || !parent) inside = false
      else if (this.#isEntry(one)) inside = true
      else {
        inside = this.#inside.get(parent)
        way.push(parent)
        one = parent._item
      }
    }
    for (const type of way) this.#inside.set(type, inside)
    return inside
  }
}

/** @throws when other cards, or groups, differ */
function requireSame(before: Y.Doc, after: Y.Doc, cardId: string): void {
  const contentOf = (document: Y.Doc) => {
    const cards = cardsOf(document)
    const others = [...cards].filter(([id]) => id !== cardId)
    return [
      new Map(
        others.map(([id, card]) => [id, card instanceof Y.AbstractType ? (card.toJSON() as unknown) : card]),
      ),
      groupsOf(document).toJSON(),
    ]
  }
  if (
    !isDeepStrictEqual(contentOf(before), contentOf(after)) ||
    after.store.pendingStructs ||
    after.store.pendingDs
  )
    throw new Error('The history of a board without a card does not lead to the same board.')
}
