/** Cards and groups as they lie in a board's document: reading them with distrust, and writing them by the rules. */
import * as Y from 'yjs'
import { contentOf } from './bind-text.ts'
import { DerivedStore, type Store } from './store.ts'
import { editBetween } from './text-edit.ts'

/** A card as the editor sees it. It does not change: a changed card is another object. */
export interface EditorCard {
  readonly id: string
  readonly kind: string
  readonly title: string | null
  readonly body: string
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
  readonly z: number
  readonly rotation: number
  readonly group_id: string | null
  /** The other fields, those of your own included. Shared types are left out: find them in the document. */
  readonly [field: string]: unknown
}

export interface EditorGroup {
  readonly id: string
  readonly name: string
  readonly color: string | null
  readonly shape: 'box' | 'hug'
  readonly outline: boolean
}

/** Fields to write. Null takes a field back. */
export type CardFields = { [K in keyof EditorCard]?: EditorCard[K] | null }
export type GroupFields = Partial<Omit<EditorGroup, 'id'>>

export interface Entries<T, Fields> extends Store<readonly T[]> {
  find(id: string): T | undefined
  /** @returns the new id */
  add(fields: Fields): string
  /** @returns false when it is not on the board any more */
  change(id: string, fields: Partial<Fields>): boolean
  remove(id: string): void
}

export interface Cards extends Entries<EditorCard, CardFields & { kind: string }> {
  /**
   * @param id of `newId`; without it, a new one. When the board has such a card, nothing is added.
   * @returns the id
   */
  add(fields: CardFields & { kind: string }, id?: string): string
  /** The shared text of a card's body. Bind a text field to it. */
  text(id: string): Y.Text | null
}

type Shared = Y.Map<unknown>

const text = (value: unknown) => (typeof value === 'string' ? value : null)
const number = (value: unknown, otherwise: number, least = -Infinity, most = Infinity) =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise
const maxCoordinate = 1_000_000
const size = { w: 280, h: 180, least: 40, most: 4000 }

function readCard(id: string, map: Shared): EditorCard | null {
  const plain = Object.fromEntries([...map].filter(([, value]) => !(value instanceof Y.AbstractType)))
  const kind = plain['kind']
  if (typeof kind !== 'string') return null
  const body = map.get('body')
  return Object.freeze({
    ...plain,
    id,
    kind,
    title: text(plain['title']),
    body: body instanceof Y.Text ? contentOf(body) : (text(body) ?? ''),
    x: number(plain['x'], 0, -maxCoordinate, maxCoordinate),
    y: number(plain['y'], 0, -maxCoordinate, maxCoordinate),
    w: number(plain['w'], size.w, size.least, size.most),
    h: number(plain['h'], size.h, size.least, size.most),
    z: number(plain['z'], 0),
    rotation: number(plain['rotation'], 0),
    group_id: text(plain['group_id']),
  })
}

function readGroup(id: string, map: Shared): EditorGroup | null {
  const name = map.get('name')
  if (typeof name !== 'string') return null
  const shape = map.get('shape') === 'hug' ? 'hug' : 'box'
  const outline = map.get('outline') !== false
  return Object.freeze({ id, name, color: text(map.get('color')), shape, outline })
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** A random id of 16 characters. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => alphabet[byte & 63]).join('')

/** Entries of a root map. One that has not changed stays the same object. */
function openEntries<T extends { id: string }>(
  root: Y.Map<Shared>,
  read: (id: string, map: Shared) => T | null,
  order: (a: T, b: T) => number,
) {
  const known = new Map<string, T | null>()
  const entryOf = (id: string): T | null => {
    const map = mapOf(root, id)
    if (!map) return null
    if (!known.has(id)) known.set(id, read(id, map))
    return known.get(id) ?? null
  }
  const store = new DerivedStore<readonly T[]>(() =>
    [...root.keys()].flatMap((id) => entryOf(id) ?? []).sort(order),
  )
  const onChange = (events: Y.YEvent<Y.AbstractType<unknown>>[]) => {
    for (const event of events)
      for (const id of event.path.length > 0 ? [String(event.path[0])] : event.changes.keys.keys())
        known.delete(id)
    store.changed()
  }
  root.observeDeep(onChange as Parameters<typeof root.observeDeep>[0])
  return { get: store.get, subscribe: store.subscribe, find: (id: string) => entryOf(id) ?? undefined }
}

/** An editor of somebody else may have stored something else there. */
function mapOf(root: Y.Map<Shared>, id: string): Shared | null {
  const map: unknown = root.get(id)
  return map instanceof Y.Map ? map : null
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)

/** @param origin of the transactions that write */
export function openCards(document: Y.Doc, origin: unknown): Cards {
  const root = document.getMap<Shared>('cards')
  const entries = openEntries(root, readCard, (a, b) => a.z - b.z || byId(a, b))
  return {
    ...entries,
    text(id) {
      const body = mapOf(root, id)?.get('body')
      return body instanceof Y.Text ? body : null
    },
    add(fields, id = newId()) {
      if (root.has(id)) return id
      const top = Math.max(0, entries.get().at(-1)?.z ?? 0)
      document.transact(() => {
        const card: Shared = new Y.Map()
        root.set(id, card)
        // Made here, also when it is empty: of two texts that two editors make later, one would be lost.
        card.set('body', new Y.Text())
        writeCard(card, { x: 0, y: 0, w: size.w, h: size.h, ...fields, z: fields.z ?? top + 1 })
      }, origin)
      return id
    },
    change(id, fields) {
      const card = mapOf(root, id)
      if (card) document.transact(() => writeCard(card, fields), origin)
      return card !== null
    },
    remove: (id) => document.transact(() => root.delete(id), origin),
  }
}

function writeCard(card: Shared, fields: CardFields): void {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || field === 'id') continue
    if (field === 'body') writeBody(card, text(value) ?? '')
    else if (value === null) card.delete(field)
    else card.set(field, field === 'x' || field === 'y' ? Math.round(Number(value)) : value)
  }
}

/** Writes the smallest edit, so that carets and what others type stay. */
function writeBody(card: Shared, body: string): void {
  const shared = card.get('body')
  if (!(shared instanceof Y.Text)) return void card.set('body', new Y.Text(body))
  const edit = editBetween(contentOf(shared), body)
  if (!edit) return
  shared.delete(edit.start, edit.deleted)
  shared.insert(edit.start, edit.inserted)
}

export function openGroups(
  document: Y.Doc,
  origin: unknown,
): Entries<EditorGroup, GroupFields & { name: string }> {
  const root = document.getMap<Shared>('groups')
  const write = (group: Shared, fields: GroupFields) => {
    for (const [field, value] of Object.entries(fields)) if (value !== undefined) group.set(field, value)
  }
  return {
    ...openEntries(root, readGroup, byId),
    add(fields) {
      const id = newId()
      document.transact(() => {
        const group: Shared = new Y.Map()
        root.set(id, group)
        write(group, fields)
        group.set('created_at', new Date().toISOString())
      }, origin)
      return id
    },
    change(id, fields) {
      const group = mapOf(root, id)
      if (group) document.transact(() => write(group, fields), origin)
      return group !== null
    },
    remove: (id) => document.transact(() => root.delete(id), origin),
  }
}
