/** What changed on a board, as entries: one for each API operation, and one for each burst of edits by an editor. */
import type { RecordedCause, SegmentRow } from '../log/segment.ts'

/** A place in the history: the index of a cause in a row. */
export interface Place {
  seq: number
  index: number
}

export interface EntryQuery {
  /** Entries before this place only; null: from the newest one. */
  before: Place | null
  /** First and last time, in milliseconds. */
  since: number
  until: number
  /** Only changes by this account, or of this card. */
  actor: string | null
  card: string | null
  limit: number
}

/** Changes of a card or group are listed once, by what became of it over the whole entry. */
export interface Entry extends Omit<RecordedCause, 'n' | 'changes'> {
  /** The place of its first cause. The board before the entry is at position `first.seq - 1`. */
  first: Place
  /** The position of its last row. */
  position: number
  /** Times of its first and last row, in milliseconds. */
  beganAt: number
  at: number
  counts: { added: number; removed: number; changed: number; groups: number }
  /** Ids of the first cards. */
  cards: string[]
  /** Names of all changed fields. */
  fields: string[]
}

const burstMs = 60_000
const maxCards = 100

type Placed = RecordedCause & { place: Place; at: number }

/** Entries of rows that are in order. Newest first. */
export function entriesOf(rows: SegmentRow[], query: EntryQuery): Entry[] {
  const entries: Entry[] = []
  let open: Placed[] = []
  const close = () => {
    if (open.length > 0) entries.push(entryOf(open.toReversed()))
    open = []
  }
  for (const cause of newestFirst(rows, query)) {
    if (open.length > 0 && !isOneBurst(open[0]!, cause)) close()
    if (entries.length === query.limit) return entries
    open.push(cause)
  }
  close()
  return entries
}

function* newestFirst(rows: SegmentRow[], query: EntryQuery): Generator<Placed> {
  const { before } = query
  for (const { seq, at, causes } of rows.toReversed()) {
    if (at < query.since) return
    if (at > query.until || (before && seq > before.seq)) continue
    for (let index = causes.length - 1; index >= 0; index--) {
      if (before && seq === before.seq && index >= before.index) continue
      const cause = causes[index]!
      if (isWanted(cause, query)) yield { ...cause, place: { seq, index }, at }
    }
  }
}

function isWanted({ accounts, changes }: RecordedCause, { actor, card }: EntryQuery): boolean {
  const { added, removed, changed, groups } = changes
  if (actor !== null && !accounts.includes(actor)) return false
  if (card !== null) return added.includes(card) || removed.includes(card) || Object.hasOwn(changed, card)
  return added.length + removed.length + groups.length > 0 || Object.keys(changed).length > 0
}

const isOneBurst = (last: Placed, cause: Placed) =>
  last.by === 'editor' &&
  cause.by === 'editor' &&
  last.at - cause.at <= burstMs &&
  last.accounts.join() === cause.accounts.join()

/** @param causes of one entry, oldest first */
function entryOf(causes: Placed[]): Entry {
  const [first, last] = [causes[0]!, causes.at(-1)!]
  const cards = new Map<string, 'added' | 'removed' | 'changed'>()
  const groups = new Set<string>()
  const fields = new Set<string>()
  for (const { changes } of causes) {
    for (const id of changes.added) cards.set(id, cards.get(id) === 'removed' ? 'changed' : 'added')
    for (const [id, names] of Object.entries(changes.changed)) {
      if (!cards.has(id)) cards.set(id, 'changed')
      for (const name of names) fields.add(name)
    }
    for (const id of changes.removed)
      if (cards.get(id) === 'added') cards.delete(id)
      else cards.set(id, 'removed')
    for (const id of changes.groups) groups.add(id)
  }
  const count = (what: string) => [...cards.values()].filter((one) => one === what).length
  const { n: _n, changes: _changes, place, at, ...cause } = first
  return {
    ...cause,
    tokens: [...new Set(causes.flatMap(({ tokens = [] }) => tokens))],
    first: place,
    position: last.place.seq,
    beganAt: at,
    at: last.at,
    counts: {
      added: count('added'),
      removed: count('removed'),
      changed: count('changed'),
      groups: groups.size,
    },
    cards: [...cards.keys()].slice(0, maxCards),
    fields: [...fields].slice(0, maxCards),
  }
}
