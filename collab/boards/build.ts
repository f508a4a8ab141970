/** Builds changes of cards: Yjs updates that are not applied yet, and their index rows. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type * as Y from 'yjs'
import {
  cardFields,
  isStoredKind,
  type CardChange,
  type CardContent,
  type CardShape,
  type VersionedCard,
} from '../../core/card.ts'
import { boundText } from '../../core/card-values.ts'
import { badRequest } from '../../core/errors.ts'
import { both, type Expects } from '../../core/version.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import type { Places } from '../../core/layout/place-new.ts'
import type { BuiltWrite } from '../commit/write-request.ts'
import { anchorsOf, anchorsOfNew, type Planned } from '../canvas/anchors.ts'
import { cardsOf, cardsRoot, readContent, type SharedMap, type Values } from '../canvas/canvas.ts'
import {
  inUpdates,
  storedFields,
  UpdateBuilder,
  type CopyChanges,
  type StoredFields,
} from '../canvas/edit.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { toJson } from '../canvas/json.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import { placesOfNew, type Threads } from './free-places.ts'
import { completeContent, shapeOf, stateOfRemoved, type CardToCreate } from '../canvas/new-cards.ts'
import { bodyOf, type BodyPlans } from './plan-bodies.ts'
import { cardRow, interiorOf, readCard, versioned } from '../canvas/project.ts'

export interface CardPatch {
  id: string
  change: CardChange
  /** The text that the client's edit of `body` is based on. */
  bodyBase?: string
  expects?: Expects | undefined
}

function emptyWrite(): BuiltWrite {
  return { updates: [], used: 0, rows: [], groups: [], adds: 0, grows: 0, top: null, removed: [] }
}

/** A write of the API that is being built: its updates, and the rest. */
export class Draft {
  readonly builder: UpdateBuilder
  readonly write = emptyWrite()

  constructor({ apiClient, apiClock }: BoardHead) {
    this.builder = new UpdateBuilder(apiClient, apiClock)
  }

  /** Sets the fields that differ from the stored ones. Returns what becomes of their keys. */
  setFields(shared: SharedMap, fields: object): Map<string, Planned> {
    const planned = new Map<string, Planned>()
    for (const [key, value] of Object.entries(fields)) {
      const stored = shared.get(key) ?? null
      if (isDeepStrictEqual(stored, value)) continue
      const plan = this.builder.setField(shared, key, value)
      if (plan) planned.set(key, plan)
      this.write.grows += fieldBytes(value) - fieldBytes(stored)
    }
    return planned
  }

  /**
   * Changes a card, and adds its row.
   *
   * @param bodies the plans of the request; null when none of its changes has a body
   */
  patchCard(shared: SharedMap, { id, change, bodyBase }: CardPatch, bodies: BodyPlans | null): VersionedCard {
    const { body: wanted, ...fields } = change
    const content: CardContent = { ...readContent(shared), ...fields }
    const planned = this.setFields(shared, storedFields(fields))
    let interior = interiorOf(shared)
    /** Whether the row has all of the body. What an editor wrote may be no text that a row can have. */
    let isWhole = true
    if (wanted !== undefined) {
      if (!bodies) throw new Error('A body has no plan.')
      const current = bodyOf(shared)
      const { edits, body } = bodies.take(id, { current, wanted: wanted ?? '', base: bodyBase })
      planned.set('body', this.builder.setText(shared, 'body', edits, body))
      content.body = boundText(body, Infinity) || null // a text that is too long is refused, and not cut
      isWhole = (content.body ?? '') === body
      this.write.grows += fieldBytes(body) - fieldBytes(current)
      if (shared.has('content')) {
        // The rich text is outdated. Removing it makes the editor rebuild it from the body.
        planned.set('content', this.builder.removeKey(shared, 'content')!)
        interior = interiorOf(shared, 'content')
      }
    }
    const card = versioned(id, content, interior)
    this.write.rows.push(cardRow(card, isWhole ? anchorsOf(shared, content, planned) : null))
    if (change.z !== undefined) this.raiseTop(content.z)
    this.builder.nextChange()
    return card
  }

  /** Removes a card. Returns the token that restores it. */
  *removeCard(document: Y.Doc, id: string, shared: SharedMap): Steps<string> {
    const token = randomUUID()
    this.write.removed.push({ token, id, state: yield* stateOfRemoved(shared) })
    this.write.rows.push({ id, gone: true })
    this.builder.removeKey(cardsOf(document), id)
    this.builder.nextChange()
    return token
  }

  raiseTop(z: number): void {
    this.write.top = Math.max(this.write.top ?? z, z)
  }

  finish(): BuiltWrite {
    this.write.updates = this.builder.build()
    this.write.used = this.builder.used
    return this.write
  }
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
interface Placing extends Threads {
  layout: LayoutName | undefined
  /** See `NewCards`. */
  keepsPlaced?: boolean | undefined
  /** The cards that are on the board already. */
  occupied: CardShape[]
}

function placesOf(
  cards: CardToCreate[],
  { layout, keepsPlaced, occupied, ...threads }: Placing,
): Steps<Places> {
  const open = cards.map((card) => {
    const { kind, w, h, rotation, section_header, sub, group_id } = shapeOf(card)
    const { x, y } = card.change
    return { id: card.id, kind, w, h, rotation, section_header, sub, group_id, x, y }
  })
  return placesOfNew(threads, { layout, keepsPlaced, cards: open, occupied })
}

/** Adds new and restored cards to a write. Returns them. */
export function* buildCreates(
  { builder, write }: Draft,
  { topZ }: BoardHead,
  cards: CardToCreate[],
  placing: Placing | null,
): Steps<VersionedCard[]> {
  const created: VersionedCard[] = []
  const earlierBytes = bytesOf(builder.build())
  let top = Math.max(topZ, write.top ?? topZ)
  const places = placing ? yield* placesOf(cards, placing) : null
  for (const { id, change, kept } of cards) {
    yield
    const given = { ...change, ...places?.get(id) }
    given.z ??= cardFields.z.accept(top + 1)
    top = Math.max(top, given.z)
    const { card, anchors } = kept
      ? { card: yield* buildRestore(builder, id, given, kept), anchors: null }
      : buildNew(builder, id, given)
    created.push(card)
    write.rows.push({ ...cardRow(card, anchors), fresh: true })
    builder.nextChange()
  }
  write.adds += cards.length
  write.top = top
  write.grows += bytesOf(builder.build()) - earlierBytes
  return created
}

function buildNew(
  builder: UpdateBuilder,
  id: string,
  change: CardChange,
): { card: VersionedCard; anchors: string | null } {
  const content = completeContent(change)
  const fields = { ...storedFields(content), rotation: content.rotation || null }
  const { map, planned } = builder.createCard(id, fields, content.body ?? '')
  return { card: versioned(id, content, null), anchors: anchorsOfNew(map, planned, content) }
}

function* buildRestore(
  builder: UpdateBuilder,
  id: string,
  change: CardChange,
  kept: SharedMap,
): Steps<VersionedCard> {
  const { body, ...given } = change
  const fields = storedFields(given)
  for (const [key, value] of Object.entries(fields))
    if (isDeepStrictEqual(kept.get(key) ?? null, value)) delete fields[key]
  const changes: CopyChanges = { fields }
  if (body !== undefined && (body ?? '') !== (readContent(kept).body ?? '')) {
    changes.body = body ?? ''
    changes.fields['content'] = null
  }
  yield* inUpdates(builder, builder.copyMap(kept, cardsRoot, id, changes))
  const after: StoredFields = {
    ...changes.fields,
    ...(changes.body === undefined ? {} : { body: changes.body }),
  }
  const restored: Values = {
    get: (name) => (Object.hasOwn(after, name) ? (after[name] ?? undefined) : kept.get(name)),
    keys: () =>
      new Set(
        [...kept.keys(), ...Object.keys(after)].filter((name) => restored.get(name) !== undefined),
      ).values(),
  }
  if (!isStoredKind(restored.get('kind'))) throw badRequest('restore_token does not belong to a card.')
  return readCard(id, restored)
}

/** Merges the changes of a card that is named twice. The later change wins. All conditions have to hold. */
export function mergeSame(patches: CardPatch[]): CardPatch[] {
  const merged = new Map<string, CardPatch>()
  for (const { id, change, bodyBase, expects } of patches) {
    const earlier = merged.get(id)
    const writesBody = change.body !== undefined
    merged.set(id, {
      id,
      // The earlier html would show the replaced text.
      change: { ...earlier?.change, ...(writesBody ? { html: null } : {}), ...change },
      bodyBase: writesBody ? bodyBase : earlier?.bodyBase,
      expects: both(earlier?.expects, expects),
    })
  }
  return [...merged.values()]
}
