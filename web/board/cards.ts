/** Cards and groups of a board's document: reads them with distrust, since any editor can write anything, and writes them. */
import * as Y from 'yjs'
import { editBetween } from './bind-text.ts'
import { DerivedStore, type Store } from './store.ts'

/** A card as the canvas shows it. A changed card is another object; one that has not changed stays the same. */
export interface Card {
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
  /** All other fields, unchecked. Shared types are left out. */
  readonly [field: string]: unknown
}

export interface Group {
  readonly id: string
  readonly name: string
  readonly color: string | null
  readonly outline: boolean
}

/** Fields to write. Null removes a field. */
export type CardFields = { [Name in keyof Card]?: Card[Name] | null }

export interface Entries<T> extends Store<readonly T[]> {
  find(id: string): T | undefined
}

export interface Cards extends Entries<Card> {
  /** The shared text of the card's body. Null for a card that is gone, or that has none. */
  text(id: string): Y.Text | null
  /** @returns the id of the new card */
  add(fields: CardFields & { kind: string }): string
  change(id: string, fields: CardFields): void
  remove(id: string): void
}

type Shared = Y.Map<unknown>

const defaultSize = { w: 280, h: 180 }
const maxCoordinate = 1_000_000
const side = { min: 40, max: 4000 }

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function numberOf(value: unknown, otherwise: number, min = -Infinity, max = Infinity): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : otherwise
}

function readCard(id: string, map: Shared): Card | null {
  const plain = Object.fromEntries([...map].filter(([, value]) => !(value instanceof Y.AbstractType)))
  const kind = textOf(plain['kind'])
  if (kind === null) return null
  const body = map.get('body')
  return {
    ...plain,
    id,
    kind,
    title: textOf(plain['title']),
    body: body instanceof Y.Text ? body.toString() : (textOf(body) ?? ''),
    x: numberOf(plain['x'], 0, -maxCoordinate, maxCoordinate),
    y: numberOf(plain['y'], 0, -maxCoordinate, maxCoordinate),
    w: numberOf(plain['w'], defaultSize.w, side.min, side.max),
    h: numberOf(plain['h'], defaultSize.h, side.min, side.max),
    z: numberOf(plain['z'], 0),
    rotation: numberOf(plain['rotation'], 0),
    group_id: textOf(plain['group_id']),
  }
}

function readGroup(id: string, map: Shared): Group | null {
  const name = textOf(map.get('name'))
  if (name === null) return null
  return { id, name, color: textOf(map.get('color')), outline: map.get('outline') !== false }
}

const inOrder = (a: { z?: number; id: string }, b: { z?: number; id: string }) =>
  (a.z ?? 0) - (b.z ?? 0) || (a.id < b.id ? -1 : 1)

/** Reads the entries of a root map. Only those that an event names are read again. */
function openEntries<T extends { id: string }>(
  root: Y.Map<Shared>,
  read: (id: string, map: Shared) => T | null,
): Entries<T> {
  const known = new Map<string, T | null>()
  const find = (id: string): T | null => {
    const map = root.get(id)
    if (!(map instanceof Y.Map)) return null
    if (!known.has(id)) known.set(id, read(id, map))
    return known.get(id)!
  }
  const store = new DerivedStore<readonly T[]>(() =>
    [...root.keys()].flatMap((id) => find(id) ?? []).sort(inOrder),
  )
  root.observeDeep((events) => {
    for (const event of events) {
      const ids = event.path.length > 0 ? [String(event.path[0])] : event.changes.keys.keys()
      for (const id of ids) known.delete(id)
    }
    store.changed()
  })
  return { get: store.get, subscribe: store.subscribe, find: (id) => find(id) ?? undefined }
}

export const openGroups = (document: Y.Doc): Entries<Group> =>
  openEntries(document.getMap<Shared>('groups'), readGroup)

/** @param origin of the transactions that write, for undo */
export function openCards(document: Y.Doc, origin: unknown): Cards {
  const root = document.getMap<Shared>('cards')
  const entries = openEntries(root, readCard)
  const write = (change: () => void) => document.transact(change, origin)
  return {
    ...entries,
    text(id) {
      const body = root.get(id)?.get('body')
      return body instanceof Y.Text ? body : null
    },
    add(fields) {
      const id = newId()
      const top = entries.get().at(-1)?.z ?? 0
      write(() => {
        const card: Shared = new Y.Map()
        root.set(id, card)
        // Made with the card, also when it is empty: of two texts that two editors make later, one would be lost.
        card.set('body', new Y.Text())
        writeFields(card, { x: 0, y: 0, ...defaultSize, z: top + 1, ...fields })
      })
      return id
    },
    change(id, fields) {
      const card = root.get(id)
      if (card) write(() => writeFields(card, fields))
    },
    remove: (id) => write(() => root.delete(id)),
  }
}

const wholeNumbers = new Set(['x', 'y', 'w', 'h'])

function writeFields(card: Shared, fields: CardFields): void {
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'id' || value === undefined) continue
    if (name === 'body') writeBody(card, textOf(value) ?? '')
    else if (value === null) card.delete(name)
    else card.set(name, wholeNumbers.has(name) ? Math.round(Number(value)) : value)
  }
}

/** Writes the smallest edit, so that what others type meanwhile stays. */
function writeBody(card: Shared, body: string): void {
  const text = card.get('body')
  if (!(text instanceof Y.Text)) return void card.set('body', new Y.Text(body))
  const { start, removed, inserted } = editBetween(text.toString(), body)
  text.delete(start, removed)
  text.insert(start, inserted)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** A random id of 16 characters. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => alphabet[byte & 63]).join('')
