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
  isLinkUrl,
  numberDefaults,
  propsFault,
  textFields,
  textLimits,
  type CardContent,
  type NumberField,
  type Props,
  type TextField,
} from '../../core/card.ts'
import { groupShapes, type Group } from '../../core/group.ts'
import { limits } from '../../core/limits.ts'
import { toJson, type Json, type JsonBudget } from './json.ts'

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
  return shared instanceof Y.Map && kindOf(shared) !== null ? shared : null
}

function kindOf(shared: SharedMap): string | null {
  const kind = shared.get('kind')
  return typeof kind === 'string' && kindPattern.test(kind) ? kind : null
}

export function readCard(doc: Y.Doc, id: string): CardContent | null {
  const shared = findCard(doc, id)
  return shared ? readContent(shared) : null
}

/** What of a card decides where it can lie. */
export type CardShape = Pick<
  CardContent,
  'kind' | 'x' | 'y' | 'w' | 'h' | 'rotation' | 'section_header' | 'sub' | 'group_id'
>

/** The shapes of all cards, in no order; the rest of a card is not read. */
export function readShapes(doc: Y.Doc): Map<string, CardShape> {
  const shapes = new Map<string, CardShape>()
  for (const id of cardsOf(doc).keys()) {
    const shape = readShapeOf(doc, id)
    if (shape) shapes.set(id, shape)
  }
  return shapes
}

export function readShapeOf(doc: Y.Doc, id: string): CardShape | null {
  const shared = findCard(doc, id)
  return shared ? readShape(shared) : null
}

function readShape(shared: SharedMap): CardShape {
  const number = (field: 'x' | 'y' | 'w' | 'h' | 'rotation') =>
    readNumber(shared, field) ?? numberDefaults[field]
  return {
    kind: kindOf(shared) ?? 'note',
    x: number('x'),
    y: number('y'),
    w: number('w'),
    h: number('h'),
    rotation: number('rotation'),
    section_header: shared.get('section_header') === true,
    sub: readText(shared, 'sub'),
    group_id: readText(shared, 'group_id'),
  }
}

export function readContent(shared: SharedMap): CardContent {
  const texts = {} as Record<TextField, string | null>
  for (const field of textFields) texts[field] = readText(shared, field)
  if (texts.url !== null && !isLinkUrl(texts.url)) texts.url = null
  const props = shared.get('props')
  return {
    ...texts,
    kind: kindOf(shared) ?? 'note',
    body: bodyText(shared.get('body')),
    x: readNumber(shared, 'x') ?? numberDefaults.x,
    y: readNumber(shared, 'y') ?? numberDefaults.y,
    w: readNumber(shared, 'w') ?? numberDefaults.w,
    h: readNumber(shared, 'h') ?? numberDefaults.h,
    z: readNumber(shared, 'z') ?? numberDefaults.z,
    rotation: readNumber(shared, 'rotation') ?? numberDefaults.rotation,
    size_bytes: readNumber(shared, 'size_bytes'),
    section_header: shared.get('section_header') === true,
    props: propsFault(props) === null ? (props as Props) : null,
    identifiers: boundIdentifiers(shared.get('identifiers')),
  }
}

/** The shared text of a body. A rich text is none: what it reads as is markup, and its positions are others. */
export function sharedText(value: unknown): Y.Text | null {
  return value instanceof Y.Text && !(value instanceof Y.XmlText) ? value : null
}

function bodyText(value: unknown): string | null {
  const text = sharedText(value)?.toString() ?? value
  return typeof text === 'string' ? boundText(text, bodyLimit) || null : null
}

function readText(shared: SharedMap, field: TextField): string | null {
  const value = shared.get(field)
  return typeof value === 'string' ? boundText(value, textLimits[field]) : null
}

function readNumber(shared: SharedMap, field: NumberField): number | null {
  const value = shared.get(field)
  return typeof value === 'number' && Number.isFinite(value) ? boundNumber[field](value) : null
}

/** The card as the canvas stores it, editor-owned keys included. */
export function readRaw(shared: SharedMap, budget: JsonBudget): Json {
  return toJson(shared, budget)
}

/** The shared map of a group, if there is one that can be shown: a map with a name, under an id. */
export function findGroup(doc: Y.Doc, id: string): SharedMap | null {
  const shared = isCardId(id) ? groupsOf(doc).get(id) : null
  return shared instanceof Y.Map && typeof shared.get('name') === 'string' ? (shared as SharedMap) : null
}

export function readGroup(doc: Y.Doc, id: string): Group | null {
  const shared = findGroup(doc, id)
  return shared ? readGroupContent(shared) : null
}

export function readGroupContent(shared: SharedMap): Group {
  const [name, color, shape] = [shared.get('name'), shared.get('color'), shared.get('shape')]
  return {
    name: typeof name === 'string' ? boundText(name, limits.name) : '',
    color: typeof color === 'string' ? boundText(color, textLimits.color) : null,
    shape: groupShapes.find((known) => known === shape) ?? 'box',
    outline: shared.get('outline') !== false,
  }
}
