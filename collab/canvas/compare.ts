/** Compares the values of cards and groups as documents store them. */
import { createHash } from 'node:crypto'
import * as Y from 'yjs'
import { hashOf } from '../../core/version.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { sortInSteps } from '../../platform/work/sort-in-steps.ts'
import { sharedText, type SharedMap } from './canvas.ts'
import { keyCost, toJson, type Json, type JsonBudget } from './json.ts'

/**
 * A field that costs more than this many characters is compared by its items. Reading, hashing or comparing one that
 * costs less takes up to 16 ms. With eight times as many characters it took up to 116 ms, and collections of garbage.
 */
const maxChars = 512 * 1024

/**
 * So is a field of more runs of items than this, with those that are deleted. A text is read before its characters are
 * counted, and reading 1.5 million letters that Yjs can't merge took 61 ms.
 */
const maxRuns = 100_000
const itemsPerStep = 100

/** Reads a value as JSON. When it does not fit the budget, the budget is below zero afterwards. */
type Read = (value: unknown, budget: JsonBudget) => Json

/** The value of a field as JSON. A text with formats or embedded objects has those, too. */
export const fieldJson: Read = (value, budget) => {
  const text = sharedText(value)
  return text && !isPlain(text) ? formattedJson(text, budget) : toJson(value, budget)
}

/**
 * The JSON of `text.toDelta()`. Yjs copies all current formats for each run: 5,000 formats before 5,000 objects are an
 * update of 270 KB, and took over 1 GB. So runs are read one by one, as long as they fit the budget.
 */
function formattedJson(text: Y.Text, budget: JsonBudget): Json {
  budget.left -= 4 // for the list, as in `toJson`
  const runs: Json[] = []
  const formats = new Map<string, unknown>()
  let words = ''
  const add = (insert: unknown) => {
    if (formats.size * keyCost > budget.left) budget.left = -1
    if (budget.left < 0) return
    const attributes = formats.size > 0 ? { attributes: Object.fromEntries(formats) } : {}
    runs.push(toJson({ insert, ...attributes }, budget))
  }
  const endWords = () => {
    if (words) add(words)
    words = ''
  }
  for (let item = text._start; item !== null && budget.left >= 0; item = item.right) {
    const { content } = item
    if (item.deleted) continue
    if (content instanceof Y.ContentString) words += content.str
    else if (content instanceof Y.ContentFormat) {
      endWords()
      if (content.value === null) formats.delete(content.key)
      else formats.set(content.key, content.value)
    } else if (content instanceof Y.ContentType || content instanceof Y.ContentEmbed) {
      endWords()
      add(content.getContent()[0])
    }
  }
  endWords()
  return runs
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

/** The keys that are in any of the maps. A board may have a million cards, and two of its states are compared. */
export function* keysOfAll(...maps: { keys(): Iterable<string> }[]): Steps<Set<string>> {
  const keys = new Set<string>()
  let read = 0
  for (const map of maps)
    for (const key of map.keys()) {
      keys.add(key)
      if (++read % keysPerStep === 0) yield
    }
  return keys
}

const keysPerStep = 500

/** A hash of a field's value; empty when the map has no such field. */
export function* digestOf(shared: SharedMap, name: string): Steps<string> {
  if (!shared.has(name)) return ''
  const json = yield* readWhole(shared, name, fieldJson)
  yield
  return json === undefined ? yield* digestOfItems(shared, name) : hashOf({ value: json })
}

/** The names of the fields that differ. A step reads or compares one field. */
export function* differingFields(one: SharedMap, other: SharedMap, read: Read = fieldJson): Steps<string[]> {
  const names = yield* keysOfAll(one, other)
  const differing: string[] = []
  for (const name of names) {
    if (!(yield* isSame(one, other, name, read))) differing.push(name)
    yield
  }
  return differing
}

function* isSame(one: SharedMap, other: SharedMap, name: string, read: Read): Steps<boolean> {
  if (one.has(name) !== other.has(name)) return false
  const first = yield* textOfWhole(one, name, read)
  const second = yield* textOfWhole(other, name, read)
  if (first !== undefined || second !== undefined) return first === second
  return (yield* digestOfItems(one, name)) === (yield* digestOfItems(other, name))
}

/**
 * The value of a field as a text of JSON, with sorted keys; undefined when it is too large. For a list of 60,000 lists
 * `isDeepStrictEqual` takes 49 ms, and this takes 9.
 */
function* textOfWhole(shared: SharedMap, name: string, read: Read): Steps<string | undefined> {
  const json = yield* readWhole(shared, name, read)
  yield
  const text = JSON.stringify(json) as string | undefined
  yield
  return text
}

/** The value of a field as JSON; undefined when it is too large. */
function* readWhole(shared: SharedMap, name: string, read: Read): Steps<Json | undefined> {
  if (yield* hasManyItems(shared, name)) return undefined
  const budget = { left: maxChars }
  const json = read(shared.get(name), budget)
  return budget.left < 0 ? undefined : json
}

/** Whether a field has too many items to be read in one step, with those that are deleted. */
export function* hasManyItems(shared: SharedMap, name: string): Steps<boolean> {
  const runs = new Runs()
  yield* visitItems(shared, name, (item) => {
    runs.add(item)
    return runs.count <= maxRuns
  })
  return runs.count > maxRuns
}

/**
 * A hash of the ids of the items that make up a field. It takes the place of a hash of the value when that is too large.
 * The same items are the same value. Equal values of other items count as different: then a restore writes the field
 * again, and an undo leaves it alone.
 */
function* digestOfItems(shared: SharedMap, name: string): Steps<string> {
  const ids = createHash('sha1')
  const runs = new Runs(({ client, from, to }) => ids.update(`${client} ${from} ${to},`))
  yield* visitItems(shared, name, (item) => {
    if (!item.deleted) runs.add(item)
    return true
  })
  runs.end()
  return `items ${ids.digest('base64')}`
}

interface Run {
  client: number
  from: number
  to: number
  deleted: boolean
}

/** Items whose ids follow each other make a run. Yjs merges neighbours and splits them, which leaves the runs as they are. */
class Runs {
  readonly #ended: (run: Run) => void
  #run: Run = { client: -1, from: 0, to: 0, deleted: false }
  count = 0

  constructor(ended: (run: Run) => void = () => undefined) {
    this.#ended = ended
  }

  add({ id: { client, clock }, length, deleted }: Y.Item): void {
    const run = this.#run
    if (client !== run.client || clock !== run.to || deleted !== run.deleted) {
      this.end()
      this.#run = { client, from: clock, to: clock, deleted }
      this.count += 1
    }
    this.#run.to += length
  }

  end(): void {
    this.#ended(this.#run)
  }
}

/** Visits the items of a field, with those of the types in it, until `visit` returns false. The order is always the same. */
function* visitItems(shared: SharedMap, name: string, visit: (item: Y.Item) => boolean): Steps<void> {
  const types: Y.AbstractType<unknown>[] = []
  let visited = 0
  const goesOn = (item: Y.Item) => {
    visited += 1
    if (!item.deleted && item.content instanceof Y.ContentType)
      types.push(item.content.type as Y.AbstractType<unknown>)
    return visit(item)
  }
  const field = shared._map.get(name)
  if (field && !goesOn(field)) return
  for (const type of types) {
    for (let item = type._start; item !== null; item = item.right) {
      if (!goesOn(item)) return
      if (visited % itemsPerStep === 0) yield
    }
    const keys = yield* sortInSteps([...type._map.keys()], (a, b) => (a < b ? -1 : 1))
    for (const key of keys) {
      const item = type._map.get(key)
      if (item && !goesOn(item)) return
      if (visited % itemsPerStep === 0) yield
    }
    yield
  }
}
