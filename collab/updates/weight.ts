/**
 * Estimates the memory that a document takes, while it changes. Encoded bytes say little: an empty map has five bytes and
 * takes 600. The figures below were measured with Node 26 and yjs 13.6; real documents are within a fifth of them.
 *
 * This module wraps `integrate`, `delete` and `gc` of Yjs's Item. They do what they did, but bytes are copied.
 */
import * as Y from 'yjs'
import { ownBytes } from './own-bytes.ts'

/** An item with its ids and its content object. */
const itemBytes = 300
/** The entry of a map, with a key of up to `shortKey` characters. */
const entryBytes = 120
const shortKey = 32
const typeBytes = 320
/** A client in the store, and a root type. A few roots belong to every board. */
const [clientBytes, rootBytes, fewRoots] = [280, 560, 16]
/** A number or another plain value; and what a string or bytes take besides their content. */
const [valueBytes, stringBytes, binaryBytes] = [24, 32, 240]
/** Lists that are not empty get room for 17 values. */
const [emptyListBytes, listBytes] = [48, 200]
/** Each key of an object takes so much besides its characters. V8 describes objects with different keys one by one. */
const [emptyObjectBytes, objectBytes, keyBytes] = [80, 180, 64]

/**
 * The structs of a document are counted again after so many changes, and in proportion to their number: Yjs merges what
 * was added or deleted, and what is deleted in part is split.
 */
const [fewChanges, shareOfStructs] = [1000, 1 / 8]

export class Weight {
  readonly #document: Y.Doc
  /** Items that were integrated count, too, although Yjs may have merged them since. */
  structs = 0
  /** Items that were integrated or deleted since the structs were counted. */
  changes = 0
  contentBytes = 0

  constructor(document: Y.Doc) {
    this.#document = document
  }

  /** The memory that the document takes. */
  get bytes(): number {
    const { store, share } = this.#document
    return (
      this.structs * itemBytes +
      store.clients.size * clientBytes +
      Math.max(0, share.size - fewRoots) * rootBytes +
      this.contentBytes
    )
  }

  /** Called when the document has been emptied. */
  clear(): void {
    this.structs = this.changes = this.contentBytes = 0
  }

  /** Counts the structs, when much has changed since the last time. */
  correct(): void {
    if (this.changes > fewChanges + this.structs * shareOfStructs) this.count()
  }

  count(): void {
    this.structs = 0
    for (const structs of this.#document.store.clients.values()) this.structs += structs.length
    this.changes = 0
  }
}

const weights = new WeakMap<Y.Doc['store'], Weight>()

/** Weighs a document from now on. Call it first while the document is empty. */
export const weigh = (document: Y.Doc): Weight =>
  weights.getOrInsertComputed(document.store, () => new Weight(document))

/**
 * What an item takes besides its struct. It is the same in one item as in several that Yjs merges, and of one that is
 * collected only its key is left.
 */
const bytesOfItem = (item: Y.Item): number => bytesOfKey(item) + bytesOfContent(item)

/** A long key. An item that has neighbours gets the key from them, so it takes no memory of its own. */
function bytesOfKey({ parentSub, origin, rightOrigin }: Y.Item): number {
  if (parentSub === null || origin !== null || rightOrigin !== null) return 0
  return 2 * Math.max(0, parentSub.length - shortKey)
}

function bytesOfContent({ content, parentSub }: Y.Item): number {
  if (content instanceof Y.ContentDeleted) return 0
  const entry = parentSub === null ? 0 : entryBytes * content.getLength()
  if (content instanceof Y.ContentString) return entry + 2 * content.str.length
  if (content instanceof Y.ContentType) return entry + bytesOfType(content.type)
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON)
    return entry + bytesOfAll(content.arr as unknown[])
  if (content instanceof Y.ContentFormat)
    return entry + 2 * content.key.length + bytesOfValue(content.value as unknown)
  if (content instanceof Y.ContentEmbed) return entry + bytesOfValue(content.embed)
  if (content instanceof Y.ContentBinary) return entry + bytesOfValue(content.content)
  return entry
}

function bytesOfType(type: unknown): number {
  const { nodeName, hookName } = type as { nodeName?: string; hookName?: string }
  return typeBytes + 2 * (nodeName ?? hookName ?? '').length
}

function bytesOfValue(value: unknown): number {
  if (typeof value === 'string') return stringBytes + 2 * value.length
  if (typeof value !== 'object' || value === null) return valueBytes
  if (value instanceof Uint8Array) return binaryBytes + value.byteLength
  if (Array.isArray(value)) return value.length === 0 ? emptyListBytes : listBytes + bytesOfAll(value)
  const entries = Object.entries(value)
  let bytes = entries.length === 0 ? emptyObjectBytes : objectBytes
  for (const [key, each] of entries) bytes += keyBytes + 2 * key.length + bytesOfValue(each)
  return bytes
}

function bytesOfAll(values: unknown[]): number {
  let bytes = 0
  for (const value of values) bytes += bytesOfValue(value)
  return bytes
}

/**
 * Copies the bytes among the values of an item. Yjs reads them as a part of the update that they come in, and a part, however
 * small, keeps all of the update in memory.
 */
function keepOwnBytes({ content }: Y.Item): void {
  if (content instanceof Y.ContentBinary) content.content = ownBytes(content.content)
  else if (content instanceof Y.ContentAny) copyBytesIn(content.arr)
  else if (content instanceof Y.ContentEmbed) copyBytesIn(content.embed)
  else if (content instanceof Y.ContentFormat) copyBytesIn(content.value)
}

function copyBytesIn(value: unknown): void {
  if (Array.isArray(value)) for (let n = 0; n < value.length; n++) copyBytesAt(value as unknown[], n)
  else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array))
    for (const key of Object.keys(value)) copyBytesAt(value as Record<string, unknown>, key)
}

function copyBytesAt<Key extends string | number>(values: Record<Key, unknown>, key: Key): void {
  const value = values[key]
  if (value instanceof Uint8Array) values[key] = ownBytes(value)
  else if (typeof value === 'object') copyBytesIn(value)
}

const { prototype } = Y.Item
const { integrate, delete: remove, gc } = prototype

prototype.integrate = function (transaction, offset) {
  integrate.call(this, transaction, offset)
  const weight = weights.get(transaction.doc.store)
  if (!weight || this.parent === null) return
  weight.structs += 1
  weight.changes += 1
  keepOwnBytes(this)
  weight.contentBytes += bytesOfItem(this)
}

prototype.delete = function (transaction) {
  const weight = weights.get(transaction.doc.store)
  if (weight) weight.changes += 1
  remove.call(this, transaction)
}

prototype.gc = function (store, isParentCollected) {
  const weight = weights.get(store)
  if (weight) weight.contentBytes -= bytesOfItem(this)
  gc.call(this, store, isParentCollected)
  if (weight && !isParentCollected) weight.contentBytes += bytesOfItem(this)
}
