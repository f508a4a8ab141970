/** Compares the values of cards and groups as documents store them. */
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { hashOf } from '../../core/version.ts'
import { sharedText, type SharedMap } from './canvas.ts'
import { toJson, type Json } from './json.ts'

/** Largest part of a value that is compared, in characters. */
const maxChars = 4 * 1024 * 1024

/** The value of a field as JSON. A text with formats or embedded objects has those, too. */
export function fieldJson(value: unknown): Json {
  const text = sharedText(value)
  const compared: unknown = text && !isPlain(text) ? text.toDelta() : value
  return toJson(compared, { left: maxChars })
}

/** Whether a text is nothing but characters. */
export function isPlain(text: Y.Text): boolean {
  for (let item = text._start; item !== null; item = item.right)
    if (!item.deleted && !(item.content instanceof Y.ContentString)) return false
  return true
}

/** The text of a value that is a plain shared text; null for any other value. */
export function plainText(value: unknown): string | null {
  const text = sharedText(value)
  return text && isPlain(text) ? text.toString() : null
}

/** A hash of a field's value; empty when the map has no such field. */
export const digestOf = (shared: SharedMap, name: string): string =>
  shared.has(name) ? hashOf({ value: fieldJson(shared.get(name)) }) : ''

/** The names of the fields that differ. */
export function differingFields(one: SharedMap, other: SharedMap): string[] {
  const isSame = (name: string) =>
    one.has(name) === other.has(name) &&
    isDeepStrictEqual(fieldJson(one.get(name)), fieldJson(other.get(name)))
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => !isSame(name))
}
