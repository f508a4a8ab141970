/**
 * Builds the API's changes as Yjs updates without applying them. The commit may still refuse an API write. If it had
 * been shown before, everything that others built on it would stay pending forever.
 *
 * Structs use the board's single API client id, starting at the clock that the commit checks. New cards depend only on
 * root keys, and so need no document. Changes refer to neighbouring items in the loaded document.
 */
import * as Y from 'yjs'
import type { CardChange } from '../../core/card.ts'
import type { TextEdit } from '../../core/text-merge.ts'
import { atOnce, type Steps } from '../../platform/work/loop-turn.ts'
import { encodeInSteps, type DeletedRange } from '../updates/encode.ts'
import type { Planned, PlannedKeys } from './anchors.ts'
import { cardsRoot, groupsRoot, sharedText, type SharedMap } from './canvas.ts'

/** Fields as the shared map stores them; null removes the key. `body` is separate, because it is a shared text. */
export type StoredFields = Record<string, unknown>

type Content = Y.Item['content']

const largeChars = 128 * 1024
const largeStructs = 1000
/** Items that are copied between two `yield`s. */
const copiedPerStep = 300

/** Builds one update, or several that are applied in order. */
export class UpdateBuilder {
  readonly #client: number
  readonly #start: number
  #clock: number
  readonly #updates: Uint8Array[] = []
  #bytes = 0
  /** The content of the current update. */
  #structs: Y.Item[] = []
  #deletes = new Map<number, DeletedRange[]>()
  #chars = 0
  #deleted = 0
  #copied = 0

  constructor(client: number, clock: number) {
    this.#client = client
    this.#start = clock
    this.#clock = clock
  }

  /** The number of clocks that the built structs take. */
  get used(): number {
    return this.#clock - this.#start
  }

  /** The size of the updates that are finished. */
  get bytes(): number {
    return this.#bytes
  }

  get next(): Y.ID {
    return Y.createID(this.#client, this.#clock)
  }

  /** Called between changes. Begins another update when it takes some milliseconds to encode or apply this one. */
  nextChange(): void {
    const isLarge =
      this.#chars >= largeChars || this.#structs.length >= largeStructs || this.#deleted >= largeStructs
    if (isLarge) this.endUpdate()
  }

  /** Encodes the changes since the last call as one update. Returns null if nothing has changed. */
  endUpdate(): Uint8Array | null {
    return atOnce(this.endInSteps())
  }

  *endInSteps(): Steps<Uint8Array | null> {
    if (this.#structs.length === 0 && this.#deletes.size === 0) return null
    const structs = new Map(this.#structs.length > 0 ? [[this.#client, this.#structs]] : [])
    const update = yield* encodeInSteps(structs, this.#deletes)
    this.#updates.push(update)
    this.#bytes += update.byteLength
    this.#structs = []
    this.#deletes = new Map()
    this.#chars = this.#deleted = 0
    return update
  }

  build(): Uint8Array[] {
    this.endUpdate()
    return this.#updates
  }

  /** @returns the item of the card's map, and its keys */
  createCard(id: string, fields: StoredFields, body: string): { map: Y.ID; planned: PlannedKeys } {
    const planned = new Map<string, Planned>()
    const map = this.#createMap(null, cardsRoot, id, fields, planned)
    // Create the text with the card. If two clients created it later, the words of one of them would be lost.
    planned.set('body', { id: this.#createText(null, map, 'body', body), state: 'text' })
    return { map, planned }
  }

  createGroup(id: string, fields: StoredFields): void {
    this.#createMap(null, groupsRoot, id, fields)
  }

  /** @param planned gets the map's keys */
  #createMap(
    left: Y.ID | null,
    root: string,
    id: string,
    fields: StoredFields,
    planned?: Map<string, Planned>,
  ): Y.ID {
    const map = this.#push(left, null, root, id, new Y.ContentType(new Y.Map()))
    for (const [key, value] of Object.entries(fields)) {
      if (value === null || value === undefined) continue
      const item = this.#push(null, null, map, key, new Y.ContentAny([value]))
      planned?.set(key, { id: item, state: 'value', value })
    }
    return map
  }

  #createText(left: Y.ID | null, parent: Y.ID, key: string, words: string): Y.ID {
    const text = this.#push(left, null, parent, key, new Y.ContentType(new Y.Text()))
    if (words) this.#push(null, null, text, null, new Y.ContentString(words))
    return text
  }

  /**
   * Copies a map struct by struct, because editors may have stored values that the methods of a Y.Map don't accept.
   * The source may change between the steps. Then the copy has some of the changes.
   *
   * @param before the last item of the target key, which was removed
   */
  *copyMap(
    source: SharedMap,
    root: string,
    key: string,
    changes: CopyChanges = { fields: {} },
    before?: Y.Item,
  ): Steps<void> {
    // The newest item of a key is its value. Without its predecessor as a neighbour, client ids would decide which one
    // is newest.
    const card = this.#createMap(before?.lastId ?? null, root, key, changes.fields)
    for (const [name, item] of source._map) {
      const replaced = Object.hasOwn(changes.fields, name) || (name === 'body' && changes.body !== undefined)
      if (!item.deleted && !replaced) yield* this.#copyItem(item, card, name, null)
    }
    if (changes.body !== undefined) this.#createText(null, card, 'body', changes.body)
  }

  /** Creates a map. By key: a map, of any document, that has the key's value. The values are copied as `copyMap` does. */
  *collectMap(
    values: ReadonlyMap<string, SharedMap>,
    root: string,
    key: string,
    before?: Y.Item,
  ): Steps<void> {
    const map = this.#createMap(before?.lastId ?? null, root, key, {})
    for (const [name, source] of values) yield* this.#copyItem(source._map.get(name)!, map, name, null)
  }

  /** Sets a key to the value that it has in a map of another document. */
  *copyField(shared: SharedMap, key: string, source: SharedMap): Steps<void> {
    yield* this.#copyItem(source._map.get(key)!, itemOf(shared).id, key, lastIdOf(shared, key))
  }

  *#copyItem(item: Y.Item, parent: Y.ID, key: string | null, left: Y.ID | null): Steps<Y.ID> {
    const { content } = item
    this.#copied += 1
    const isStepOver = this.#copied % copiedPerStep === 0
    if (!(content instanceof Y.ContentType)) {
      // The value of a map's entry is the last value of its item.
      const copied = key === null || content.getLength() === 1 ? content.copy() : lastOf(content)
      const id = this.#push(left, null, parent, key, copied)
      if (isStepOver) yield
      return Y.createID(id.client, id.clock + copied.getLength() - 1)
    }
    const { type } = content
    const id = this.#push(left, null, parent, key, content) // only its kind is encoded, which never changes
    if (isStepOver) yield
    for (const [name, inner] of type._map) if (!inner.deleted) yield* this.#copyItem(inner, id, name, null)
    let last: Y.ID | null = null
    for (let inner = type._start, next; inner !== null; inner = next) {
      next = inner.right // An editor may split the item meanwhile. Its second half is copied already.
      if (!inner.deleted) last = yield* this.#copyItem(inner, id, null, last)
    }
    return id
  }

  /** @returns what becomes of the key; null when it stays as it is */
  setField(shared: SharedMap, key: string, value: unknown): Planned | null {
    if (value === null || value === undefined) return this.removeKey(shared, key)
    const id = this.#push(lastIdOf(shared, key), null, itemOf(shared).id, key, new Y.ContentAny([value]))
    return { id, state: 'value', value }
  }

  /** Edits a text in place. If the field contains something else, it becomes a new text with the content `whole`. */
  setText(shared: SharedMap, key: string, edits: TextEdit[], whole: string): Planned {
    const last = lastIdOf(shared, key)
    const value = sharedText(shared.get(key))
    if (value) this.#editText(value, edits)
    const id = value && last ? last : this.#createText(last, itemOf(shared).id, key, whole)
    return { id, state: 'text' }
  }

  /** @returns what becomes of the key; null when it has no value */
  removeKey(shared: SharedMap, key: string): Planned | null {
    const current = shared._map.get(key)
    if (!current || current.deleted) return null
    this.#delete(current.id, current.length)
    // Applying it deletes each field of a map, too.
    if (current.content instanceof Y.ContentType) this.#deleted += current.content.type._map.size
    return { id: current.lastId, state: 'gone' }
  }

  /** Applies edits in one pass over the text's items. The edits are in ascending order and don't touch each other. */
  #editText(text: Y.Text, edits: readonly TextEdit[]): void {
    let item = text._start
    /** The position at which the item begins. */
    let at = 0
    for (const edit of edits) {
      while (item !== null && (!isShown(item) || at + item.length <= edit.index)) {
        if (isShown(item)) at += item.length
        item = item.right
      }
      const offset = edit.index - at
      const before = item === null ? (lastItem(text)?.lastId ?? null) : idBefore(item, offset)
      const after = item === null ? null : Y.createID(item.id.client, item.id.clock + offset)
      let remaining = edit.remove
      for (let from = offset; item !== null && remaining > 0; from = 0) {
        const length = isShown(item) ? Math.min(item.length - from, remaining) : 0
        if (length > 0) this.#delete(Y.createID(item.id.client, item.id.clock + from), length)
        remaining -= length
        if (remaining === 0) break
        if (isShown(item)) at += item.length
        item = item.right
      }
      if (edit.insert) this.#push(before, after, itemOf(text).id, null, new Y.ContentString(edit.insert))
    }
  }

  #delete(id: Y.ID, length: number): void {
    this.#deleted += 1
    const ranges = this.#deletes.getOrInsert(id.client, [])
    const last = ranges.at(-1)
    if (last && last.clock + last.len === id.clock) last.len += length
    else ranges.push({ clock: id.clock, len: length })
  }

  #push(
    left: Y.ID | null,
    right: Y.ID | null,
    parent: Y.ID | string,
    key: string | null,
    content: Content,
  ): Y.ID {
    const id = this.next
    this.#structs.push(new Y.Item(id, null, left, null, right, parent as Y.ID, key, content))
    this.#clock += content.getLength()
    this.#chars += charsOf(content)
    return id
  }
}

/** Runs a copy in steps. A large one becomes several updates. */
export function* inUpdates(builder: UpdateBuilder, copy: Steps<void>): Steps<void> {
  for (const awaits of copy) {
    builder.nextChange()
    yield awaits
  }
}

/** The changes in a copy: fields as they are stored (null leaves the key out), and the body if it changes. */
export interface CopyChanges {
  fields: StoredFields
  body?: string
}

/** The fields of a change as they are stored, without `body`. False and empty lists are stored as absent. */
export function storedFields(change: CardChange): StoredFields {
  const { body: _body, ...stored }: StoredFields = change
  for (const name in stored) if (isEmpty(stored[name])) stored[name] = null
  return stored
}

const isEmpty = (value: unknown) => value === false || (Array.isArray(value) && value.length === 0)

/**
 * The left neighbour of a new value of a key. In the encoding it replaces the parent. Integrating the value deletes it.
 */
const lastIdOf = (shared: SharedMap, key: string): Y.ID | null => shared._map.get(key)?.lastId ?? null

function itemOf(shared: { _item: Y.Item | null }): Y.Item {
  if (!shared._item) throw new Error('A root type has no item.')
  return shared._item
}

function lastOf(content: Content): Content {
  return content.copy().splice(content.getLength() - 1)
}

/** The approximate size of a content in characters. An entry of an object costs as much as 40 characters. */
function charsOf(content: Content): number {
  if (content instanceof Y.ContentString) return content.str.length
  return content instanceof Y.ContentAny ? charsOfValue(content.arr) : 0
}

function charsOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  const perEntry = Array.isArray(value) ? 0 : 40
  return Object.values(value).reduce((sum: number, entry) => sum + perEntry + charsOfValue(entry), 8)
}

const isShown = (item: Y.Item) => !item.deleted && item.content instanceof Y.ContentString

/** The id directly before a character of an item. */
const idBefore = ({ id, left }: Y.Item, offset: number): Y.ID | null =>
  offset > 0 ? Y.createID(id.client, id.clock + offset - 1) : (left?.lastId ?? null)

function lastItem(text: Y.Text): Y.Item | null {
  let last = text._start
  while (last?.right) last = last.right
  return last
}
