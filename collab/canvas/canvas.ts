/**
 * The canvas document: how a board is stored in a Y.Doc. Editors may store any value, so everything that is read is
 * checked.
 *
 * Roots:
 * - `cards`: Y.Map<cardId, Y.Map>. The inner keys are the API's field names; `body` is a Y.Text, all others plain JSON.
 * - `groups`: Y.Map<groupId, Y.Map>.
 *
 * Entries that can't be cards (no kind, an id with a slash, not a map) are skipped. Values out of bounds are clamped.
 */
import * as Y from 'yjs'
import { boundText } from '../../core/card-values.ts'
import {
  cardFields,
  isCardId,
  isStoredKind,
  readFields,
  shapeFields,
  type CardContent,
  type CardShape,
  type FieldName,
} from '../../core/card.ts'
import { groupShapes, type Group } from '../../core/group.ts'
import { limits } from '../../core/limits.ts'
import { atOnce, type Steps } from '../../platform/work/loop-turn.ts'
import { toJson, type Json } from './json.ts'

export const cardsRoot = 'cards'
export const groupsRoot = 'groups'

export type SharedMap = Y.Map<unknown>

/** The part of a shared map that readers need. It may also be the state after a planned write. */
export type Values = Pick<SharedMap, 'get' | 'keys'>

export const cardsOf = (doc: Y.Doc): Y.Map<unknown> => doc.getMap(cardsRoot)
export const groupsOf = (doc: Y.Doc): Y.Map<unknown> => doc.getMap(groupsRoot)

/** The shared map of a card, if it exists and can be shown. */
export function findCard(doc: Y.Doc, id: string): SharedMap | null {
  if (!isCardId(id)) return null
  const shared = cardsOf(doc).get(id)
  return shared instanceof Y.Map && isStoredKind(shared.get('kind')) ? shared : null
}

/** The shapes of all cards, unordered. Other fields are not read. */
export const readShapes = (doc: Y.Doc): Map<string, CardShape> => atOnce(shapesOf(doc))

/** The same in steps. Cards may change between them. */
export function* shapesOf(doc: Y.Doc): Steps<Map<string, CardShape>> {
  const shapes = new Map<string, CardShape>()
  for (const id of [...cardsOf(doc).keys()]) {
    const shape = readShape(doc, id)
    if (shape) shapes.set(id, shape)
    yield
  }
  return shapes
}

export function readShape(doc: Y.Doc, id: string): CardShape | null {
  const shared = findCard(doc, id)
  if (!shared) return null
  const shape: Partial<Record<FieldName, unknown>> = {}
  for (const name of shapeFields) shape[name] = cardFields[name].read(shared.get(name))
  return shape as CardShape
}

export const readContent = (shared: Values): CardContent =>
  readFields((name) => (name === 'body' ? bodyOf(shared) : shared.get(name)))

/** The text of a body, or the stored value when it is not a text. */
const bodyOf = (shared: Values): unknown => {
  const stored = shared.get('body')
  const text = sharedText(stored)
  return text ? beginningOf(text) : stored
}

/** As much of a text as a body may show, and more. A text may have millions of items, and is read for each index row. */
export function beginningOf(text: Y.Text): string {
  let read = ''
  for (let item = text._start; item !== null && read.length <= 2 * cardFields.body.limit; item = item.right)
    if (!item.deleted && item.content instanceof Y.ContentString) read += item.content.str
  return read
}

/**
 * The shared text of a body; null for any other type. A rich text is not accepted: it reads as markup, and its
 * positions differ.
 */
export function sharedText(value: unknown): Y.Text | null {
  return value instanceof Y.Text && !(value instanceof Y.XmlText) ? value : null
}

const rawCardChars = 4 * 1024 * 1024

/**
 * Returns a function that reads cards as the canvas stores them, including keys that only the editor knows. Content
 * beyond `maxChars` for all cards, or beyond the limit for one, is cut off.
 */
export function rawReader(maxChars = Infinity): (shared: SharedMap) => Json {
  let left = maxChars
  return (shared) => {
    const most = Math.min(rawCardChars, left)
    const budget = { left: most }
    const raw = toJson(shared, budget)
    left -= most - Math.max(budget.left, 0)
    return raw
  }
}

/** The shared map of a group, if it exists and can be shown: a map with a name, under a valid id. */
export function findGroup(doc: Y.Doc, id: string): SharedMap | null {
  const shared = isCardId(id) ? groupsOf(doc).get(id) : null
  return shared instanceof Y.Map && typeof shared.get('name') === 'string' ? (shared as SharedMap) : null
}

export function readGroup(doc: Y.Doc, id: string): Group | null {
  const shared = findGroup(doc, id)
  return shared ? readGroupContent(shared) : null
}

export function readGroupContent(shared: Values): Group {
  const [name, color, shape] = [shared.get('name'), shared.get('color'), shared.get('shape')]
  return {
    name: typeof name === 'string' ? boundText(name, limits.name) : '',
    color: typeof color === 'string' ? boundText(color, cardFields.color.limit) : null,
    shape: groupShapes.find((known) => known === shape) ?? 'box',
    outline: shared.get('outline') !== false,
  }
}

type SharedType = Parameters<Y.Transaction['changed']['get']>[0]

/** The root type that contains a type, and the key of its entry there; null when the type is the root itself. */
export function rootEntry(type: SharedType): { root: SharedType; key: string | null } | null {
  let inner = type
  let key: string | null = null
  for (let depth = 0; depth < 10_000; depth++) {
    const item: Y.Item | null = inner._item
    if (!item) return { root: inner, key }
    if (!(item.parent instanceof Y.AbstractType)) return null
    key = item.parentSub
    inner = item.parent
  }
  return null
}
