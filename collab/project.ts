/** Card and group → their rows in the mirror tables. */
import { hash } from 'node:crypto'
import type * as Y from 'yjs'
import { numberFields, textFields, type CardContent } from '../core/card.ts'
import type { Group } from '../core/group.ts'
import { findCard, readContent, readGroup, type SharedMap } from './canvas.ts'
import { toJson, type Json } from './json.ts'

/** A row of `card_index` as commit_batch takes it. `gone`: the card is no more. `fresh`: it cannot have been there before. */
export interface CardRow {
  id: string
  gone?: boolean
  fresh?: boolean
  /** The board that it comes from, and its id there. */
  moved_from?: string
  was?: string
  kind?: string
  title?: string | null
  body?: string | null
  x?: number
  y?: number
  w?: number
  h?: number
  z?: number
  rotation?: number
  group_id?: string | null
  image_key?: string | null
  file_key?: string | null
  poster_key?: string | null
  url?: string | null
  identifiers?: unknown
  hash?: string
}

export interface GroupRow extends Partial<Group> {
  id: string
  gone?: boolean
  hash?: string
}

/** The keys that `contentHash` takes from the content; all others of a card are the editor's. */
const knownKeys = new Set([
  'kind', 'title', 'body', 'html', 'url', 'image_key', 'file_key', 'poster_key', 'file_name', 'mime', 'ext', 'alt', 'color',
  'group_id', 'sub', 'x', 'y', 'w', 'h', 'z', 'rotation', 'size_bytes', 'section_header', 'props', 'identifiers',
]) // prettier-ignore

export function cardRow(id: string, content: CardContent, interior: unknown): CardRow {
  return {
    id,
    kind: content.kind,
    title: content.title,
    body: content.body,
    x: content.x,
    y: content.y,
    w: content.w,
    h: content.h,
    z: content.z,
    rotation: content.rotation,
    group_id: content.group_id,
    image_key: content.image_key,
    file_key: content.file_key,
    poster_key: content.poster_key,
    url: content.url,
    identifiers: content.identifiers,
    hash: contentHash(content, interior),
  }
}

/** The row of a card as the document holds it now. */
export function projectCard(doc: Y.Doc, id: string): CardRow {
  const shared = findCard(doc, id)
  return shared ? cardRow(id, readContent(shared), interiorOf(shared)) : { id, gone: true }
}

export function projectGroup(doc: Y.Doc, id: string): GroupRow {
  const group = readGroup(doc, id)
  return group ? groupRow(id, group) : { id, gone: true }
}

export function groupRow(id: string, { name, color, shape, outline }: Group): GroupRow {
  return { id, name, color, shape, outline, hash: hashOf([name, color, shape, outline]) }
}

/**
 * What only the editor knows of a card; part of the hash, so that a change of a grid is a change. Null when there is none.
 * Of a huge card it holds a part. `without`: a key that is about to be removed.
 */
export function interiorOf(shared: SharedMap, without?: string): Record<string, Json> | null {
  const budget = { left: interiorBudget }
  const entries = [...shared.keys()]
    .filter((key) => !knownKeys.has(key) && key !== without)
    .sort()
    .map((key) => [key, toJson(shared.get(key), budget)] as const)
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

const interiorBudget = 1024 * 1024

/** Every field, in an order of its own; whoever projects a card comes to the same hash. */
function contentHash(content: CardContent, interior: unknown): string {
  const { props, identifiers } = content
  return hashOf([
    content.kind,
    content.body,
    ...textFields.map((field) => content[field]),
    ...numberFields.map((field) => content[field]),
    content.section_header,
    props && canonicalJson(props),
    identifiers.length > 0 ? canonicalJson(identifiers) : null,
    interior && canonicalJson(interior),
  ])
}

function hashOf(value: unknown): string {
  return hash('sha1', JSON.stringify(value), 'base64').slice(0, 22)
}

/** The order of keys does not matter. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
