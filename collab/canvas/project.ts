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

/**
 * A row of `card_index` as an argument of commit_batch. `gone`: the card no longer exists. `fresh`: the card is new and
 * has no row yet.
 */
export interface CardRow extends Partial<IndexColumns> {
  id: string
  gone?: boolean
  fresh?: boolean
  /** The board that the card was moved from, and its id there. */
  moved_from?: string
  was?: string
  hash?: string
}

/** Returns the keys and values of a card that only the editor knows. Null: the card has no such keys. */
export type Interior = Record<string, Json> | null

export interface GroupRow extends Partial<Group> {
  id: string
  gone?: boolean
  hash?: string
}

/** The API's keys. All others belong to the editor. */
const knownKeys = new Set<string>(fieldEntries.map(([name]) => name))

export function cardRow(id: string, content: CardContent, interior: Interior): CardRow {
  const row: Partial<Record<FieldName | 'id' | 'hash', unknown>> = { id }
  for (const name of indexColumns) row[name] = content[name]
  row.hash = hashOf({ ...content, ...interior }, cardDefaults)
  return row as CardRow
}

/** The row of a card, from the document's current state. */
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
 * Returns a card's editor-owned content. It is part of the hash, so that a change of it counts as a change of the card.
 * Null: the card has no such content. Only a part of a huge card is included. `without`: a key that is about to be removed.
 */
export function interiorOf(shared: SharedMap, without?: string): Interior {
  const budget = { left: interiorBudget }
  const keys = [...shared.keys()].filter((key) => !knownKeys.has(key) && key !== without)
  if (keys.length * keyCost > interiorBudget) return { keys: keys.length }
  const entries = keys.sort().map((key) => [key, toJson(shared.get(key), budget)] as const)
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

/** Takes about 25 ms. */
const interiorBudget = 512 * 1024

const cardDefaults: Record<string, unknown> = Object.fromEntries(
  fieldEntries.map(([name, { unset }]) => [name, unset]),
)
const groupDefaults: Record<string, unknown> = { shape: 'box', outline: true }

/** Whether a value is the default. Absent, null and an empty list are defaults for every field. */
const isDefault = (value: unknown, other: unknown) =>
  value === null || value === undefined || value === other || (Array.isArray(value) && value.length === 0)

/**
 * The hash over the names and values of all fields that differ from their default, sorted by name. So every process
 * computes the same hash. A field added by a later version changes only the hashes of cards that use it. The hash is
 * the same whether a version knows a field or treats it as the editor's.
 */
function hashOf(fields: object, defaults: Record<string, unknown>): string {
  const pairs = Object.entries(fields)
    .filter(([name, value]) => !isDefault(value, defaults[name]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha1', canonicalJson(pairs), 'base64').slice(0, 22)
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
