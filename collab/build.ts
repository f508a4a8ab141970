/** Changes of cards, as updates that nobody has applied yet and the index rows that go with them. */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { boundNumber, type CardChange, type CardContent } from '../core/card.ts'
import { ServiceError } from '../core/errors.ts'
import { arrangeNew } from '../core/layout/arrange.ts'
import type { LayoutName } from '../core/layout/arrangement.ts'
import { FreeSpace, boundingBox } from '../core/layout/free-space.ts'
import type { BuiltWrite } from './board-queue.ts'
import { cardsRoot, findCard, readContent, readShapes, sharedText, type SharedMap } from './canvas.ts'
import { copyInto, planBody, storedFields, UpdateBuilder, type CopyChanges } from './edit.ts'
import { claimsOf } from './identifiers.ts'
import type { BoardHead } from './log.ts'
import { completeContent, isPlaced, shapeOf, type CardToCreate } from './new-cards.ts'
import { cardRow, interiorOf } from './project.ts'

export interface CardPatch {
  id: string
  change: CardChange
  /** The text that the client's edit of `body` started from. */
  bodyBase?: string
}

export function emptyWrite(): BuiltWrite {
  return { updates: [], used: 0, rows: [], groups: [], adds: 0, top: null, removed: [] }
}

export function finish(write: BuiltWrite, builder: UpdateBuilder): BuiltWrite {
  const update = builder.build()
  if (update) write.updates.push(update)
  write.used += builder.used
  return write
}

export function buildCreates(
  head: BoardHead,
  cards: CardToCreate[],
  space: FreeSpace | null,
  layout: LayoutName | undefined,
): { write: BuiltWrite; contents: CardContent[] } {
  const write = emptyWrite()
  const contents: CardContent[] = []
  let top = head.topZ
  let builder = new UpdateBuilder(head.apiClient, head.apiClock)
  const seats = layout && space ? arrangeNew(layout, cards.map((card) => ({ id: card.id, ...shapeOf(card) })), space) : null // prettier-ignore
  // Cards whose place is given keep it, so the others have to know of it first.
  if (space && !seats)
    for (const card of cards) if (isPlaced(card.change)) space.occupy(boundingBox(shapeOf(card)))
  for (const { id, change, kept } of cards) {
    const given = { ...change, ...seats?.get(id) }
    if (space && !isPlaced(given)) {
      const { w, h, rotation } = shapeOf({ change, kept })
      Object.assign(given, space.place({ w, h, rotation }))
    }
    given.z ??= boundNumber.z(top + 1)
    top = Math.max(top, given.z)
    write.adds += 1
    if (kept) {
      finish(write, builder)
      const clock = head.apiClock + write.used
      const { update, used, content, interior } = buildRestore(head.apiClient, clock, id, given, kept)
      write.updates.push(update)
      write.used += used
      builder = new UpdateBuilder(head.apiClient, clock + used)
      contents.push(content)
      write.rows.push({ ...cardRow(id, content, interior), fresh: true })
      continue
    }
    const content = completeContent(given)
    builder.createCard(
      id,
      { ...storedFields(content), rotation: content.rotation || null },
      content.body ?? '',
    )
    contents.push(content)
    write.rows.push({ ...cardRow(id, content, null), fresh: true })
  }
  write.top = top
  write.claims = claimsOf(cards.map(({ id }, n) => ({ id, identifiers: contents[n]!.identifiers })))
  return { write: finish(write, builder), contents }
}

function buildRestore(client: number, clock: number, id: string, change: CardChange, kept: SharedMap) {
  const { body, ...given } = change
  const fields = storedFields(given)
  for (const [key, value] of Object.entries(fields))
    if (isDeepStrictEqual(kept.get(key) ?? null, value)) delete fields[key]
  const changes: CopyChanges = { fields }
  if (body !== undefined && (body ?? '') !== (readContent(kept).body ?? '')) {
    changes.body = body ?? ''
    changes.fields['content'] = null
  }
  const { update, used } = copyInto(kept, cardsRoot, id, client, clock, changes)
  // Read as it will be read, from a document that has only this card.
  const alone = new Y.Doc()
  if (clock > 0) alone.store.clients.set(client, [new Y.GC(Y.createID(client, 0), clock)])
  Y.applyUpdate(alone, update)
  const shared = findCard(alone, id)
  if (!shared) throw new ServiceError('bad_request', 'restore_token does not belong to a card.')
  return { update, used, content: readContent(shared), interior: interiorOf(shared) }
}

export function buildPatch(
  builder: UpdateBuilder,
  shared: SharedMap,
  patch: CardPatch,
): { content: CardContent; interior: unknown } {
  const before = readContent(shared)
  const { body: wanted, ...fields } = patch.change
  for (const [key, value] of Object.entries(storedFields(fields))) {
    if (!isDeepStrictEqual(shared.get(key) ?? null, value)) builder.setField(shared, key, value)
  }
  const content: CardContent = { ...before, ...fields }
  let interior = interiorOf(shared)
  if (wanted !== undefined) {
    const current = sharedText(shared.get('body'))?.toString() ?? ''
    const { edits, body } = planBody(current, wanted ?? '', patch.bodyBase)
    builder.setText(shared, 'body', edits, body)
    content.body = body || null
    if (shared.has('content')) {
      // The rich text is of the old words: its absence tells the editor to make it anew from the body.
      builder.removeKey(shared, 'content')
      interior = interiorOf(shared, 'content')
    }
  }
  return { content, interior }
}

export function occupiedSpace(document: Y.Doc): FreeSpace {
  const space = new FreeSpace()
  for (const shape of readShapes(document).values()) space.occupy(boundingBox(shape))
  return space
}

/** A card that is named twice gets both changes, the later one winning. */
export function mergeSame(patches: CardPatch[]): CardPatch[] {
  const merged = new Map<string, CardPatch>()
  for (const { id, change, bodyBase } of patches) {
    const earlier = merged.get(id)
    const writesBody = change.body !== undefined
    merged.set(id, {
      id,
      // Its html would show the text that it replaces.
      change: { ...earlier?.change, ...(writesBody ? { html: null } : {}), ...change },
      bodyBase: writesBody ? bodyBase : earlier?.bodyBase,
    })
  }
  return [...merged.values()]
}
