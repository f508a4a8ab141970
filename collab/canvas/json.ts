/**
 * Converts stored values to JSON. A shared document may contain more than JSON: big integers, bytes, undefined and NaN.
 * Its objects may not behave like literals, and its values may have any size.
 */
import * as Y from 'yjs'
import { isPlainObject } from '../../core/card-values.ts'
import { Markup, TooLong } from './markup.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * The approximate number of characters that may still be written. A key costs more than its characters, because it
 * takes longer. Values beyond the budget become null.
 */
export interface JsonBudget {
  left: number
}

/**
 * Converts a value. Keys are sorted, so that every process produces the same JSON, and cuts it off at the same place.
 */
export function toJson(value: unknown, budget: JsonBudget): Json {
  budget.left -= 4
  if (budget.left < 0) return null
  switch (typeof value) {
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return String(value)
    case 'string':
      return bounded(value, budget)
    case 'object':
      return value === null ? null : objectToJson(value, budget)
    default:
      return null
  }
}

function objectToJson(value: object, budget: JsonBudget): Json {
  if (value instanceof Y.Map)
    return entriesToJson([...value.keys()], (key) => (value as Y.Map<unknown>).get(key), budget)
  if (value instanceof Y.Array) return listToJson(value as Iterable<unknown>, budget)
  if (value instanceof Y.Text || value instanceof Y.XmlFragment) return textToJson(value, budget)
  if (value instanceof Uint8Array) return bounded(Buffer.from(value).toString('base64'), budget)
  if (Array.isArray(value)) return listToJson(value, budget)
  if (isPlainObject(value)) return entriesToJson(Object.keys(value), (key) => value[key], budget)
  return null
}

/** The cost of a key in addition to its characters. */
export const keyCost = 32

function entriesToJson(keys: string[], valueOf: (key: string) => unknown, budget: JsonBudget): Json {
  if (keys.length * keyCost > budget.left) {
    budget.left = -1 // too many even to sort
    return null
  }
  const entries: [string, Json][] = []
  for (const key of keys.sort()) {
    budget.left -= key.length + keyCost
    if (budget.left < 0) break
    entries.push([key, toJson(valueOf(key), budget)])
  }
  return Object.fromEntries(entries) // an assignment would treat the key __proto__ specially
}

function listToJson(values: Iterable<unknown>, budget: JsonBudget): Json[] {
  const list: Json[] = []
  for (const value of values) {
    if (budget.left < 0) break
    list.push(toJson(value, budget))
  }
  return list
}

/** Returns rich text as markup; null when its attributes can't be expressed in markup. */
function textToJson(value: Y.Text | Y.XmlFragment, budget: JsonBudget): Json {
  const markup = new Markup(budget.left)
  try {
    markup.add(value)
  } catch (error) {
    if (error instanceof TooLong) budget.left = -1
    return null
  }
  budget.left -= markup.cost
  return markup.text
}

function bounded(text: string, budget: JsonBudget): string | null {
  budget.left -= text.length
  return budget.left < 0 ? null : text
}
