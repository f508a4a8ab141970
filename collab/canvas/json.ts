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
  if (value instanceof Y.Map) {
    const map: Y.Map<unknown> = value
    return entriesToJson(keysOf(map), (key) => map.get(key), budget)
  }
  if (value instanceof Y.Array) return listToJson(value.slice(0, mostValues(budget)), budget)
  if (value instanceof Y.Text || value instanceof Y.XmlFragment) return textToJson(value, budget)
  if (value instanceof Uint8Array) return bounded(Buffer.from(value).toString('base64'), budget)
  if (Array.isArray(value)) return listToJson(value, budget)
  if (isPlainObject(value)) return entriesToJson(Object.keys(value), (key) => value[key], budget)
  return null
}

/** As `[...map.keys()]`, whose iterators make a card of 40,000 small maps take 60 ms in place of 15. */
function keysOf(map: Y.Map<unknown>): string[] {
  const keys: string[] = []
  map.forEach((_value, key) => keys.push(key))
  return keys
}

/** The cost of a key in addition to its characters. */
export const keyCost = 32

function entriesToJson(keys: string[], valueOf: (key: string) => unknown, budget: JsonBudget): Json {
  if (keys.length * keyCost > budget.left) {
    budget.left = -1 // too many even to sort
    return null
  }
  const json: Record<string, Json> = {}
  for (const key of keys.sort()) {
    budget.left -= key.length + keyCost
    if (budget.left < 0) break
    const value = toJson(valueOf(key), budget)
    // An assignment would treat this key specially.
    if (key !== '__proto__') json[key] = value
    else Object.defineProperty(json, key, { value, configurable: true, enumerable: true, writable: true })
  }
  return json
}

/** How many values of a list are converted at most. Each costs something. */
const mostValues = ({ left }: JsonBudget): number => Math.max(0, left + 1)

/** A list that grows would get room for 17 values, however short it is. */
function listToJson(values: readonly unknown[], budget: JsonBudget): Json[] {
  const most = mostValues(budget)
  const some = values.length > most ? values.slice(0, most) : values
  let length = 0
  const list = some.map((value) => {
    if (budget.left < 0) return null
    length += 1
    return toJson(value, budget)
  })
  list.length = length
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
