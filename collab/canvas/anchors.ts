/**
 * The anchors of a card: what a change of its fields needs besides its row of the index, so that the document need not be
 * loaded. They are the ids of the card's shared map and of the last item of each of its keys, and the values that the row
 * lacks.
 *
 * A card without anchors is changed in the loaded document. These have none: a card with large values that the row lacks,
 * and one that an editor made in a way that can't be told in few bytes.
 */
import { isDeepStrictEqual } from 'node:util'
import * as decoding from 'lib0/decoding'
import * as Y from 'yjs'
import { indexColumns, isFieldName, type CardContent } from '../../core/card.ts'
import { beginningOf, sharedText, type SharedMap } from './canvas.ts'
import { toJson } from './json.ts'

/** The value of a key. `column`: that of the row's column. `text`: a shared text with the words of that column. */
export type AnchoredValue =
  | { state: 'column' }
  | { state: 'text' }
  | { state: 'gone' }
  | { state: 'json'; json: string }

export interface Anchor {
  key: string
  /** The last item of the key, also when it is deleted: a new value comes after it. */
  id: Y.ID
  value: AnchoredValue
}

export interface Anchors {
  /** The item of the card's shared map. */
  map: Y.ID
  entries: Anchor[]
}

/** A key that a write sets, which is not applied yet. */
export type Planned =
  | { id: Y.ID; state: 'value'; value: unknown }
  | { id: Y.ID; state: 'text' }
  | { id: Y.ID; state: 'gone' }

export type PlannedKeys = ReadonlyMap<string, Planned>

const maxKeys = 64
const maxBytes = 1000

/** Codes of the keys in the encoding, by position. Only append to this list: the database has anchors. */
const codedKeys = [
  ...['kind', 'title', 'body', 'x', 'y', 'w', 'h', 'z', 'rotation', 'color', 'group_id', 'url', 'image_key'],
  ...['file_key', 'poster_key', 'file_name', 'mime', 'ext', 'alt', 'html', 'sub', 'size_bytes'],
  ...['section_header', 'props', 'identifiers', 'content', 'created_by', 'grid', 'adjust'],
]
const codes = new Map(codedKeys.map((key, at) => [key, at + 1]))
const states = ['column', 'text', 'gone', 'json'] as const
const version = 1

const simple = { column: { state: 'column' }, text: { state: 'text' }, gone: { state: 'gone' } } as const

const columns = new Set<string>(indexColumns)
const noKeys: PlannedKeys = new Map()

/**
 * The encoded anchors of a card; null when it has none.
 *
 * @param content the content of the card after the write
 * @param planned what the write sets
 */
export function anchorsOf(
  shared: SharedMap,
  content: CardContent,
  planned: PlannedKeys = noKeys,
): string | null {
  const { _item: map, _map: items } = shared
  if (!map || items.size + planned.size > maxKeys) return null
  const entries: Anchor[] = []
  for (const [key, item] of items) {
    if (planned.has(key)) continue
    const value = valueOf(key, item, content)
    if (!value) return null
    entries.push({ key, id: item.lastId, value })
  }
  return withPlanned(map.id, entries, planned, content)
}

/** The encoded anchors of a card that a write creates; null when it has none. */
export const anchorsOfNew = (map: Y.ID, planned: PlannedKeys, content: CardContent): string | null =>
  planned.size > maxKeys ? null : withPlanned(map, [], planned, content)

function withPlanned(
  map: Y.ID,
  entries: Anchor[],
  planned: PlannedKeys,
  content: CardContent,
): string | null {
  for (const [key, plan] of planned) {
    const value = plan.state === 'value' ? plainValue(key, plan.value, content) : simple[plan.state]
    if (!value) return null
    entries.push({ key, id: plan.id, value })
  }
  return encode(map, entries)
}

/** @returns null for a value that can't be written in few bytes, or that would be another one when it is read again */
function valueOf(key: string, item: Y.Item, content: CardContent): AnchoredValue | null {
  if (item.deleted) return simple.gone
  if (item.length !== 1) return null
  if (item.content instanceof Y.ContentAny) return plainValue(key, item.content.arr[0], content)
  if (!(item.content instanceof Y.ContentType)) return null
  const { type } = item.content
  const text = key === 'body' ? sharedText(type) : null
  if (text) return beginningOf(text) === (content.body ?? '') ? simple.text : null
  return isFieldName(key) ? null : jsonValue(type)
}

function plainValue(key: string, value: unknown, content: CardContent): AnchoredValue | null {
  if (columns.has(key)) {
    const projected = content[key as keyof CardContent]
    const isSame =
      typeof value === 'object' ? isDeepStrictEqual(value, projected) : Object.is(value, projected)
    if (isSame) return simple.column
  }
  if (typeof value === 'string')
    return value.length > maxBytes ? null : { state: 'json', json: JSON.stringify(value) }
  return isFieldName(key) ? exactJson(value) : jsonValue(value)
}

/** The JSON of a value, with its keys in their order. Null when it is large, or not the same after reading the JSON. */
function exactJson(value: unknown): AnchoredValue | null {
  const budget = { left: maxBytes }
  const plain = toJson(value, budget)
  if (budget.left < 0 || !isDeepStrictEqual(plain, value)) return null
  const json = JSON.stringify(value)
  return isDeepStrictEqual(JSON.parse(json), value) ? { state: 'json', json } : null // JSON has no -0
}

/** The JSON of a value that only the editor knows. A card's version contains no more of it. */
function jsonValue(value: unknown): AnchoredValue | null {
  const budget = { left: maxBytes }
  const json = JSON.stringify(toJson(value, budget))
  return budget.left < 0 ? null : { state: 'json', json }
}

/**
 * The entries follow the map in the order of their ids, so that the same card always has the same bytes. This runs for each
 * row, and an encoder of lib0 would take three times as long.
 */
function encode(map: Y.ID, entries: Anchor[]): string | null {
  sortById(entries, map.client)
  let at = writeNumber(version, 0)
  at = writeNumber(map.client, at)
  at = writeNumber(map.clock, at)
  let { client, clock } = map
  for (const { key, id, value } of entries) {
    const code = codes.get(key) ?? 0
    const isOther = id.client !== client
    at = writeNumber(code * 8 + states.indexOf(value.state) * 2 + Number(isOther), at)
    if (code === 0) at = writeText(key, at)
    if (isOther) at = writeNumber(id.client, at)
    const step = isOther ? id.clock : id.clock - clock - 1
    if (step < 0) return null
    at = writeNumber(step, at)
    if (value.state === 'json') at = writeText(value.json, at)
    if (at > maxBytes) return null
    ;({ client, clock } = id)
  }
  return `\\x${buffer.toString('hex', 0, at)}`
}

/** One card at a time is encoded in it. What does not fit is not written: then `at` is past the bound. */
const buffer = Buffer.alloc(maxBytes + 64)

/** Seven bits in each byte, the lowest ones first. @returns where the next value begins, here and below */
function writeNumber(value: number, at: number): number {
  let left = value
  while (left > 127) {
    buffer[at++] = (left % 128) + 128
    left = Math.floor(left / 128)
  }
  buffer[at] = left
  return at + 1
}

function writeText(text: string, at: number): number {
  const bytes = Buffer.byteLength(text)
  const from = writeNumber(bytes, at)
  if (from + bytes <= buffer.length) buffer.write(text, from)
  return from + bytes
}

/** The map's own client comes first. Entries of a new card are in their order already. */
function sortById(entries: Anchor[], first: number): void {
  const isBefore = (a: Y.ID, b: Y.ID) =>
    a.client === b.client
      ? a.clock < b.clock
      : a.client === first || (b.client !== first && a.client < b.client)
  for (let at = 1; at < entries.length; at++) {
    if (isBefore(entries[at - 1]!.id, entries[at]!.id)) continue
    entries.sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1))
    return
  }
}

/** Reads encoded anchors. Null when a later version of the service wrote them. */
export function decodeAnchors(bytes: Uint8Array): Anchors | null {
  const decoder = decoding.createDecoder(bytes)
  if (decoding.readVarUint(decoder) !== version) return null
  let client = decoding.readVarUint(decoder)
  let clock = decoding.readVarUint(decoder)
  const map = Y.createID(client, clock)
  const entries: Anchor[] = []
  while (decoding.hasContent(decoder)) {
    const head = decoding.readVarUint(decoder)
    const code = Math.floor(head / 8)
    const state = states[(head >> 1) & 3]!
    const key = code === 0 ? decoding.readVarString(decoder) : codedKeys[code - 1]
    if (key === undefined) return null
    const isOther = head % 2 === 1
    if (isOther) client = decoding.readVarUint(decoder)
    const step = decoding.readVarUint(decoder)
    clock = isOther ? step : clock + 1 + step
    const value = state === 'json' ? { state, json: decoding.readVarString(decoder) } : { state }
    entries.push({ key, id: Y.createID(client, clock), value })
  }
  return { map, entries }
}
