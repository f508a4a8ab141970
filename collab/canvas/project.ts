import type * as Y from 'yjs'
import {
  fieldEntries,
  indexColumns,
  isFieldName,
  type CardContent,
  type FieldName,
  type IndexColumns,
  type VersionedCard,
} from '../../core/card.ts'
import type { Group } from '../../core/group.ts'
import { hashOf } from '../../core/version.ts'
import { anchorsOf } from './anchors.ts'
import { findCard, readContent, readGroup, type Values } from './canvas.ts'
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
  /** See anchors.ts. Null: none. */
  anchors?: string | null
}

/** Returns the keys and values of a card that only the editor knows. Null: the card has no such keys. */
export type Interior = Record<string, Json> | null

export interface GroupRow extends Partial<Group> {
  id: string
  gone?: boolean
  hash?: string
}

/** The row of a card. */
export function cardRow({ id, content, version }: VersionedCard, anchors: string | null): CardRow {
  const row: Partial<Record<FieldName | 'id' | 'hash' | 'anchors', unknown>> = { id, hash: version, anchors }
  for (const name of indexColumns) row[name] = content[name]
  return row as CardRow
}

/**
 * Adds the version to a card: the hash over its fields and over what only the editor knows. The hash is the same whether
 * a release of the service knows a field or treats it as the editor's.
 */
export const versioned = (id: string, content: CardContent, interior: Interior): VersionedCard => ({
  id,
  content,
  version: hashOf(interior ? { ...content, ...interior } : content, cardDefaults),
})

/** A card in the document's current state. */
export const readCard = (id: string, shared: Values): VersionedCard =>
  versioned(id, readContent(shared), interiorOf(shared))

/** The row of a card, from the document's current state. */
export function projectCard(doc: Y.Doc, id: string): CardRow {
  const shared = findCard(doc, id)
  if (!shared) return { id, gone: true }
  const card = readCard(id, shared)
  return cardRow(card, anchorsOf(shared, card.content))
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
export function interiorOf(shared: Values, without?: string): Interior {
  const budget = { left: interiorBudget }
  const keys: string[] = []
  for (const key of shared.keys()) if (!isFieldName(key) && key !== without) keys.push(key)
  if (keys.length === 0) return null
  if (keys.length * keyCost > interiorBudget) return { keys: keys.length }
  return Object.fromEntries(keys.sort().map((key) => [key, toJson(shared.get(key), budget)]))
}

/** Takes about 25 ms. */
const interiorBudget = 512 * 1024

const cardDefaults: Record<string, unknown> = Object.fromEntries(
  fieldEntries.map(([name, { unset }]) => [name, unset]),
)
const groupDefaults: Record<string, unknown> = { shape: 'box', outline: true }
