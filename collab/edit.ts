/**
 * The API's changes as Yjs updates that are built without being applied: an API write may still be refused when it is
 * committed, and an edit that was shown and then refused would leave all that others built on it pending for ever.
 *
 * Structs are written for the board's one API client id, from the clock that the commit will check. New cards hang on
 * root keys alone and so need no document; changes refer to the live neighbours that the loaded document holds.
 */
import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'
import { bodyLimit, type CardChange } from '../core/card.ts'
import { applyEdits, diffText, mergeText, type TextEdit } from '../core/text-merge.ts'
import { cardsRoot, type SharedMap } from './canvas.ts'

/** Fields as they lie in the shared map; a null removes the key. `body` is apart: it is a shared text. */
export type StoredFields = Record<string, unknown>

type Content = Y.Item['content']

export class UpdateBuilder {
  readonly #client: number
  readonly #start: number
  #clock: number
  readonly #structs: Y.Item[] = []
  readonly #deletes = new Map<number, [clock: number, length: number][]>()

  constructor(client: number, clock: number) {
    this.#client = client
    this.#start = clock
    this.#clock = clock
  }

  /** How many clocks the built structs take. */
  get used(): number {
    return this.#clock - this.#start
  }

  createCard(id: string, fields: StoredFields, body: string): void {
    const card = this.#push(null, null, cardsRoot, id, new Y.ContentType(new Y.Map()))
    for (const [key, value] of Object.entries(fields)) {
      if (value !== null && value !== undefined) this.#push(null, null, card, key, new Y.ContentAny([value]))
    }
    // The text is made with the card: two sides that make it later, each on its own, lose one side's words.
    const text = this.#push(null, null, card, 'body', new Y.ContentType(new Y.Text()))
    if (body) this.#push(null, null, text, null, new Y.ContentString(body))
  }

  setField(shared: SharedMap, key: string, value: unknown): void {
    const current = currentItem(shared, key)
    if (value === null || value === undefined) {
      if (current && !current.deleted) this.#delete(current.id, current.length)
      return
    }
    this.#replace(shared, key, current, new Y.ContentAny([value]))
  }

  /** Writes a text by minimal edits; what the field was instead of a text, it becomes one. */
  setText(shared: SharedMap, key: string, edits: TextEdit[], whole: string): void {
    const value = shared.get(key)
    if (!(value instanceof Y.Text)) {
      const text = this.#replace(shared, key, currentItem(shared, key), new Y.ContentType(new Y.Text()))
      if (whole) this.#push(null, null, text, null, new Y.ContentString(whole))
      return
    }
    for (const edit of edits) this.#editText(value, edit)
  }

  removeKey(shared: Y.Map<unknown>, key: string): void {
    const current = currentItem(shared, key)
    if (current && !current.deleted) this.#delete(current.id, current.length)
  }

  /** The update, or null when nothing changes. */
  build(): Uint8Array | null {
    if (this.#structs.length === 0 && this.#deletes.size === 0) return null
    const encoder = new Y.UpdateEncoderV1()
    const rest = encoder.restEncoder
    encoding.writeVarUint(rest, this.#structs.length > 0 ? 1 : 0)
    if (this.#structs.length > 0) {
      encoding.writeVarUint(rest, this.#structs.length)
      encoder.writeClient(this.#client)
      encoding.writeVarUint(rest, this.#start)
      for (const struct of this.#structs) struct.write(encoder, 0)
    }
    encoding.writeVarUint(rest, this.#deletes.size)
    for (const [client, ranges] of this.#deletes) {
      encoding.writeVarUint(rest, client)
      encoding.writeVarUint(rest, ranges.length)
      for (const [clock, length] of ranges) {
        encoding.writeVarUint(rest, clock)
        encoding.writeVarUint(rest, length)
      }
    }
    return encoder.toUint8Array()
  }

  #replace(shared: SharedMap, key: string, current: Y.Item | null, content: Content): Y.ID {
    // A neighbour on the left replaces the parent in the encoding; who integrates the item deletes that neighbour.
    return this.#push(current ? current.lastId : null, null, itemOf(shared).id, key, content)
  }

  #editText(text: Y.Text, edit: TextEdit): void {
    let left: Y.ID | null = null
    let right: Y.ID | null = null
    let at = 0
    let remaining = edit.remove
    let placed = false
    for (let item: Y.Item | null = text._start; item !== null; item = item.right) {
      if (item.deleted || !(item.content instanceof Y.ContentString)) continue
      const end = at + item.length
      const { client, clock } = item.id
      if (!placed && edit.index < end) {
        const offset = edit.index - at
        left = offset > 0 ? Y.createID(client, clock + offset - 1) : (item.left?.lastId ?? null)
        right = Y.createID(client, clock + offset)
        placed = true
      }
      if (placed && remaining > 0) {
        const from = Math.max(edit.index - at, 0)
        const length = Math.min(item.length - from, remaining)
        this.#delete(Y.createID(client, clock + from), length)
        remaining -= length
      }
      if (placed && remaining === 0) break
      at = end
    }
    if (!edit.insert) return
    if (!placed) left = lastItem(text)?.lastId ?? null
    this.#push(left, right, itemOf(text).id, null, new Y.ContentString(edit.insert))
  }

  #delete(id: Y.ID, length: number): void {
    const ranges = this.#deletes.get(id.client)
    if (ranges) ranges.push([id.clock, length])
    else this.#deletes.set(id.client, [[id.clock, length]])
  }

  #push(
    left: Y.ID | null,
    right: Y.ID | null,
    parent: Y.ID | string,
    key: string | null,
    content: Content,
  ): Y.ID {
    const id = Y.createID(this.#client, this.#clock)
    this.#structs.push(new Y.Item(id, null, left, null, right, parent as Y.ID, key, content))
    this.#clock += content.getLength()
    return id
  }
}

/**
 * A copy of a shared map, nested types and all, as an update that puts it under `root` and `key`, after `adjust` has
 * changed what is to be different.
 */
export function copyInto(
  source: SharedMap,
  root: string,
  key: string,
  client: number,
  clock: number,
  adjust?: (copy: SharedMap) => void,
): { update: Uint8Array; used: number } {
  const doc = new Y.Doc()
  doc.clientID = client
  // A struct store that has used the clocks before: what is made next continues from there.
  if (clock > 0) doc.store.clients.set(client, [new Y.GC(Y.createID(client, 0), clock)])
  let update: Uint8Array | null = null
  doc.on('update', (made: Uint8Array) => (update = made))
  doc.transact(() => {
    const copy = source.clone()
    doc.getMap(root).set(key, copy)
    adjust?.(copy)
  })
  const used = Y.getState(doc.store, client) - clock
  if (!update) throw new Error('A copy made no update.')
  return { update, used }
}

/** How a body becomes what the client wrote: against the text its edit started from, when it says so. */
export function planBody(
  current: string,
  wanted: string,
  base: string | undefined,
): { edits: TextEdit[]; body: string } {
  const edits = base === undefined ? diffText(current, wanted) : mergeText(base, current, wanted)
  const body = applyEdits(current, edits)
  // A merge of two long texts can pass the limit that each kept.
  if (Array.from(body).length > bodyLimit) return { edits: diffText(current, wanted), body: wanted }
  return { edits, body }
}

/** The fields of a change as they are stored: times, ids and `body` aside; false and empty lists as absence. */
export function storedFields(change: CardChange): StoredFields {
  const { body: _body, ...fields } = change
  const stored: StoredFields = { ...fields }
  if ('section_header' in stored) stored['section_header'] = stored['section_header'] === true ? true : null
  if ('identifiers' in stored && Array.isArray(stored['identifiers']) && stored['identifiers'].length === 0)
    stored['identifiers'] = null
  return stored
}

function currentItem(shared: Y.Map<unknown>, key: string): Y.Item | null {
  return shared._map.get(key) ?? null
}

function itemOf(shared: { _item: Y.Item | null }): Y.Item {
  if (!shared._item) throw new Error('A root type has no item.')
  return shared._item
}

function lastItem(text: Y.Text): Y.Item | null {
  let last = text._start
  while (last?.right) last = last.right
  return last
}
