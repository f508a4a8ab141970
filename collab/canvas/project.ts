/** Card and group → their rows in the mirror tables. */
import { hash } from 'node:crypto'
import type * as Y from 'yjs'
import {
  fieldEntries,
  indexColumns,
  type CardContent,
  type FieldName,
  type IndexColumns,
} from '../../core/card.ts'
import type { Group } from '../../core/group.ts'
import { findCard, readContent, readGroup, type SharedMap } from './canvas.ts'
import { keyCost, toJson, type Json } from './json.ts'

/** A row of `card_index` as commit_batch takes it. `gone`: the card is no more. `fresh`: it cannot have been there before. */
export interface CardRow extends Partial<IndexColumns> {
  id: string
  gone?: boolean
  fresh?: boolean
  /** The board that it comes from, and its id there. */
  moved_from?: string
  was?: string
  hash?: string
}

/** The keys and values of a card that only its editor knows; null when there are none. */
export type Interior = Record<string, Json> | null

export interface GroupRow extends Partial<Group> {
  id: string
  gone?: boolean
  hash?: string
}

/** All other keys of a card are the editor's. */
const knownKeys = new Set<string>(fieldEntries.map(([name]) => name))

export function cardRow(id: string, content: CardContent, interior: Interior): CardRow {
  const row: Partial<Record<FieldName | 'id' | 'hash', unknown>> = { id }
  for (const name of indexColumns) row[name] = content[name]
  row.hash = contentHash(content, interior)
  return row as CardRow
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
  return { id, name, color, shape, outline, hash: hashOf({ name, color, shape, outline }, groupDefaults) }
}

/**
 * What only the editor knows of a card; part of the hash, so that a change of a grid is a change. Null when there is none.
 * Of a huge card it holds a part. `without`: a key that is about to be removed.
 */
export function interiorOf(shared: SharedMap, without?: string): Interior {
  const budget = { left: interiorBudget }
  const keys = [...shared.keys()].filter((key) => !knownKeys.has(key) && key !== without)
  if (keys.length * keyCost > interiorBudget) return { keys: keys.length }
  const entries = keys.sort().map((key) => [key, toJson(shared.get(key), budget)] as const)
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

/** About 25 ms of work. */
const interiorBudget = 512 * 1024

/**
 * Names and values of all fields that are not at their default, in the order of the names. So whoever projects a card comes
 * to the same hash, and a field that a later version adds changes the hash of those cards alone that use it. It makes no
 * difference whether a version knows a field or leaves it to the editor.
 */
function contentHash(content: CardContent, interior: Interior): string {
  return hashOf({ ...content, ...interior }, cardDefaults)
}

const cardDefaults: Record<string, unknown> = Object.fromEntries(
  fieldEntries.map(([name, { unset }]) => [name, unset]),
)
const groupDefaults: Record<string, unknown> = { shape: 'box', outline: true }

/** Absent, null and an empty list are the default of every field. */
const isDefault = (value: unknown, other: unknown) =>
  value === null || value === undefined || value === other || (Array.isArray(value) && value.length === 0)

function hashOf(fields: object, defaults: Record<string, unknown>): string {
  const pairs = Object.entries(fields)
    .filter(([name, value]) => !isDefault(value, defaults[name]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha1', canonicalJson(pairs), 'base64').slice(0, 22)
}

/** The order of keys does not matter. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
