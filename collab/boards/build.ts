/** Builds changes of cards: Yjs updates that are not applied yet, and their index rows. */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { cardFields, type CardChange, type CardContent, type CardShape } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { LayoutName } from '../../core/layout/arrangement.ts'
import type { Places } from '../../core/layout/place-new.ts'
import type { BuiltWrite } from '../commit/write-request.ts'
import { cardsRoot, findCard, readContent, type SharedMap } from '../canvas/canvas.ts'
import { copyInto, storedFields, UpdateBuilder, type CopyChanges } from '../canvas/edit.ts'
import { claimsOf } from './identifiers.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { toJson } from '../canvas/json.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import { placesOfNew, type Threads } from './free-places.ts'
import { completeContent, shapeOf, type CardToCreate } from '../canvas/new-cards.ts'
import { bodyOf, type BodyPlans } from './plan-bodies.ts'
import { cardRow, interiorOf, type Interior } from '../canvas/project.ts'

export interface CardPatch {
  id: string
  change: CardChange
  /** The text that the client's edit of `body` is based on. */
  bodyBase?: string
}

export function emptyWrite(): BuiltWrite {
  return { updates: [], used: 0, rows: [], groups: [], adds: 0, grows: 0, top: null, removed: [] }
}

export function finish(write: BuiltWrite, builder: UpdateBuilder): BuiltWrite {
  const update = builder.build()
  if (update) write.updates.push(update)
  write.used += builder.used
  return write
}

/**
 * Returns a builder for the next change. If the current update is large, it is finished and a new one begins; updates
 * are applied in order.
 */
export function nextUpdate(write: BuiltWrite, builder: UpdateBuilder, head: BoardHead): UpdateBuilder {
  if (!builder.isLarge) return builder
  finish(write, builder)
  return new UpdateBuilder(head.apiClient, head.apiClock + write.used)
}

/**
 * The size of a field: bytes of a text; about as many characters for a list or object of any shape. Numbers and flags
 * count 0.
 */
export function fieldBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 0
  const budget = { left: maxFieldBytes }
  toJson(value, budget)
  return maxFieldBytes - Math.max(0, budget.left)
}

const maxFieldBytes = 1024 * 1024

/** How cards without coordinates are placed. */
export interface Placing extends Threads {
  layout: LayoutName | undefined
  /** The cards that are on the board already. */
  occupied: CardShape[]
}

function placesOf(cards: CardToCreate[], { layout, occupied, ...threads }: Placing): Steps<Places> {
  const open = cards.map((card) => {
    const { kind, w, h, rotation, section_header, sub, group_id } = shapeOf(card)
    const { x, y } = card.change
    return { id: card.id, kind, w, h, rotation, section_header, sub, group_id, x, y }
  })
  return placesOfNew(threads, { layout, cards: open, occupied })
}

export function* buildCreates(
  head: BoardHead,
  cards: CardToCreate[],
  placing: Placing | null,
): Steps<{ write: BuiltWrite; contents: CardContent[] }> {
  const write = emptyWrite()
  const contents: CardContent[] = []
  let top = head.topZ
  let builder = new UpdateBuilder(head.apiClient, head.apiClock)
  const places = placing ? yield* placesOf(cards, placing) : null
  for (const { id, change, kept } of cards) {
    yield
    const given = { ...change, ...places?.get(id) }
    given.z ??= cardFields.z.accept(top + 1)
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
    builder = nextUpdate(write, builder, head)
  }
  write.top = top
  write.claims = claimsOf(cards.map(({ id }, n) => ({ id, identifiers: contents[n]!.identifiers })))
  finish(write, builder)
  write.grows = bytesOf(write.updates)
  return { write, contents }
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
  // Read the card back from a document that contains only this card.
  const alone = new Y.Doc()
  if (clock > 0) alone.store.clients.set(client, [new Y.GC(Y.createID(client, 0), clock)])
  Y.applyUpdate(alone, update)
  const shared = findCard(alone, id)
  if (!shared) throw new ServiceError('bad_request', 'restore_token does not belong to a card.')
  return { update, used, content: readContent(shared), interior: interiorOf(shared) }
}

/**
 * Adds a change of a card to an update.
 *
 * @param bodies the plans of the request; null when none of its changes has a body
 * @returns `grows`: bytes by which the card grows; negative when it shrinks
 */
export function buildPatch(
  builder: UpdateBuilder,
  shared: SharedMap,
  patch: CardPatch,
  bodies: BodyPlans | null,
): { content: CardContent; interior: Interior; grows: number } {
  const before = readContent(shared)
  const { body: wanted, ...fields } = patch.change
  let grows = 0
  for (const [key, value] of Object.entries(storedFields(fields))) {
    const stored = shared.get(key) ?? null
    if (isDeepStrictEqual(stored, value)) continue
    builder.setField(shared, key, value)
    grows += fieldBytes(value) - fieldBytes(stored)
  }
  const content: CardContent = { ...before, ...fields }
  let interior = interiorOf(shared)
  if (wanted !== undefined) {
    if (!bodies) throw new Error('A body has no plan.')
    const change = { current: bodyOf(shared), wanted: wanted ?? '', base: patch.bodyBase }
    const { edits, body } = bodies.take(patch.id, change)
    builder.setText(shared, 'body', edits, body)
    content.body = body || null
    grows += fieldBytes(body) - fieldBytes(change.current)
    if (shared.has('content')) {
      // The rich text is outdated. Removing it makes the editor rebuild it from the body.
      builder.removeKey(shared, 'content')
      interior = interiorOf(shared, 'content')
    }
  }
  return { content, interior, grows }
}

/** Merges the changes of a card that is named twice. The later change wins. */
export function mergeSame(patches: CardPatch[]): CardPatch[] {
  const merged = new Map<string, CardPatch>()
  for (const { id, change, bodyBase } of patches) {
    const earlier = merged.get(id)
    const writesBody = change.body !== undefined
    merged.set(id, {
      id,
      // The earlier html would show the replaced text.
      change: { ...earlier?.change, ...(writesBody ? { html: null } : {}), ...change },
      bodyBase: writesBody ? bodyBase : earlier?.bodyBase,
    })
  }
  return [...merged.values()]
}
