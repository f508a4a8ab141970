/**
 * The canvas document: how boards lie in a Y.Doc, read with distrust, since editors may write anything.
 *
 * Roots: `cards`: Y.Map<cardId, Y.Map>, inner keys the API's field names, `body` a Y.Text, all else plain JSON.
 *        `groups`: Y.Map<groupId, Y.Map>.
 * What cannot be a card (no kind, an id with a slash, not a map) is left out; what is out of bounds is clamped.
 */
import * as Y from 'yjs'
import {
  bodyLimit,
  boundIdentifiers,
  boundNumber,
  boundText,
  isCardId,
  numberDefaults,
  propsFault,
  textFields,
  textLimits,
  type CardContent,
  type NumberField,
  type Props,
} from '../core/card.ts'
import { groupShapes, type Group } from '../core/group.ts'
import { limits } from '../core/limits.ts'

export const cardsRoot = 'cards'
export const groupsRoot = 'groups'

export type SharedMap = Y.Map<unknown>

export const cardsOf = (doc: Y.Doc): Y.Map<unknown> => doc.getMap(cardsRoot)
export const groupsOf = (doc: Y.Doc): Y.Map<unknown> => doc.getMap(groupsRoot)

const kindPattern = /^[A-Za-z0-9_-]{1,40}$/

/** The shared map of a card, if there is one that can be shown. */
export function findCard(doc: Y.Doc, id: string): SharedMap | null {
  if (!isCardId(id)) return null
  const shared = cardsOf(doc).get(id)
  if (!(shared instanceof Y.Map)) return null
  const kind = shared.get('kind')
  return typeof kind === 'string' && kindPattern.test(kind) ? shared : null
}

export function readCard(doc: Y.Doc, id: string): CardContent | null {
  const shared = findCard(doc, id)
  return shared ? readContent(shared) : null
}

/** All cards, in no order. */
export function readCards(doc: Y.Doc): Map<string, CardContent> {
  const cards = new Map<string, CardContent>()
  for (const id of cardsOf(doc).keys()) {
    const content = readCard(doc, id)
    if (content) cards.set(id, content)
  }
  return cards
}

export function readContent(shared: SharedMap): CardContent {
  const texts = {} as Record<(typeof textFields)[number], string | null>
  for (const field of textFields) {
    const value = shared.get(field)
    texts[field] = typeof value === 'string' ? boundText(value, textLimits[field]) : null
  }
  const props = shared.get('props')
  return {
    ...texts,
    kind: String(shared.get('kind')),
    body: bodyText(shared.get('body')),
    x: readNumber(shared, 'x') ?? numberDefaults.x,
    y: readNumber(shared, 'y') ?? numberDefaults.y,
    w: readNumber(shared, 'w') ?? numberDefaults.w,
    h: readNumber(shared, 'h') ?? numberDefaults.h,
    z: readNumber(shared, 'z') ?? numberDefaults.z,
    rotation: readNumber(shared, 'rotation') ?? numberDefaults.rotation,
    size_bytes: readNumber(shared, 'size_bytes'),
    section_header: shared.get('section_header') === true,
    props: props !== undefined && props !== null && propsFault(props) === null ? (props as Props) : null,
    identifiers: boundIdentifiers(shared.get('identifiers')),
  }
}

function bodyText(value: unknown): string | null {
  if (value instanceof Y.Text) return boundText(value.toString(), bodyLimit) || null
  return typeof value === 'string' ? boundText(value, bodyLimit) || null : null
}

function readNumber(shared: SharedMap, field: NumberField): number | null {
  const value = shared.get(field)
  return typeof value === 'number' && Number.isFinite(value) ? boundNumber[field](value) : null
}

/** The card as the canvas stores it, editor-owned keys included, as JSON. */
export function readRaw(shared: SharedMap): unknown {
  return jsonOf(shared.toJSON())
}

/** Editors can store what JSON has no word for: big integers become text, bytes Base64. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(jsonOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, jsonOf(inner)]))
}

export function readGroup(doc: Y.Doc, id: string): Group | null {
  const shared = isCardId(id) ? groupsOf(doc).get(id) : null
  if (!(shared instanceof Y.Map)) return null
  const [name, color, shape] = [shared.get('name'), shared.get('color'), shared.get('shape')]
  if (typeof name !== 'string') return null
  return {
    name: boundText(name, limits.name),
    color: typeof color === 'string' ? boundText(color, textLimits.color) : null,
    shape: groupShapes.find((known) => known === shape) ?? 'box',
    outline: shared.get('outline') !== false,
  }
}
