/**
 * Records which cards and groups of a document in memory may differ from their index rows. Builds the rows that update
 * the index.
 */
import type { Document } from '@hocuspocus/server'
import type * as Y from 'yjs'
import { isCardId } from '../../core/card.ts'
import type { Logger } from '../../platform/log.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import { cardsOf, groupsOf, rootEntry } from '../canvas/canvas.ts'
import { projectCard, projectGroup, type CardRow, type GroupRow } from '../canvas/project.ts'
import type { FlushRows } from '../commit/committing-document.ts'
import type { EditBacklog } from '../commit/edit-backlog.ts'
import { LogTimes } from './log-times.ts'
import { isFromLog, nothingIndexed, type Indexed } from './origin.ts'

/** Rows in one flush. The commits of all boards wait while they are written; further rows go into the next flush. */
const maxFlushRows = 1000
/** Time for reading the rows of one flush. With huge cards, a flush has fewer rows. */
const flushMs = 10

/** Index rows that are read at once. They take a few milliseconds. */
const rowsAtOnce = 5000

interface IndexedRow {
  hash: string
  anchors: string | null
}

/** The times of the last changes, by id. */
type Times = Map<string, number>

interface Changes extends Record<keyof Indexed, Times> {
  /** None of the changes was made before this time. */
  since: number
}

/**
 * After `compare`, every difference between document and index is either recorded here or in the rows that are
 * committed with API writes. So a flush completes the index. This holds for changes of all nodes. The node that took an
 * edit flushes first. The others learn of it by the index's position, and drop what it contains.
 *
 *   a card or group   becomes     when
 *   indexed           dirty       a transaction changes it, and that commit does not write its row
 *   dirty             in flight   `project` has put its row into a flush
 *   dirty             indexed     another node has indexed its last change; `indexed` drops it
 *   in flight         indexed     `flushed`
 *   in flight         dirty       `flushFailed`, or it is changed again
 */
export class Unindexed {
  readonly #boardId: string
  readonly #document: Document
  readonly #log: Logger
  readonly #dirty: Changes = { cards: new Map(), groups: new Map(), since: 0 }
  #inFlight: Changes | null = null
  /** The index contains all changes before this time. */
  #indexedAt = 0
  readonly #times = new LogTimes()

  constructor(boardId: string, document: Document, log: Logger) {
    this.#boardId = boardId
    this.#document = document
    this.#log = log
  }

  get isOutstanding(): boolean {
    return this.#hasDirty || this.#inFlight !== null
  }

  /** For how long the waiting changes have been left over by another node, which indexed earlier ones; else null. */
  get leftOverMs(): number | null {
    return this.#hasDirty && this.#dirty.since === this.#indexedAt ? this.waitingMs : null
  }

  /** The age of the oldest waiting change in milliseconds. 0 when no change waits. */
  get waitingMs(): number {
    return this.#hasDirty ? performance.now() - this.#dirty.since : 0
  }

  get #hasDirty(): boolean {
    return this.#dirty.cards.size > 0 || this.#dirty.groups.size > 0
  }

  /**
   * Returns the rows of a flush; null when no change before `wantedAt` is left to write. When nothing is dirty but the
   * index is `behind`, the flush has no rows: it only updates the indexed position.
   */
  project(wantedAt: number, behind: boolean): FlushRows | null {
    const { since } = this.#dirty
    if (this.#hasDirty ? since > wantedAt : !behind) return null
    const rows: CardRow[] = []
    const until = performance.now() + flushMs
    const cards = takeSome(this.#dirty.cards, (id) => {
      if (rows.length >= maxFlushRows || performance.now() >= until) return false
      rows.push(this.#cardRow(id))
      return true
    })
    let left = maxFlushRows - cards.size
    const groups = takeSome(this.#dirty.groups, () => left-- > 0)
    this.#inFlight = { cards, groups, since }
    return { rows, groups: [...groups.keys()].map((id) => this.#groupRow(id)), isPart: this.#hasDirty }
  }

  /** The last rows of `project` are in the index. */
  flushed(): void {
    this.#inFlight = null
  }

  /** The last rows of `project` could not be written. They are dirty again. */
  flushFailed(): void {
    const [failed, dirty] = [this.#inFlight, this.#dirty]
    if (!failed) return
    this.#inFlight = null
    for (const [id, at] of failed.cards) if (!dirty.cards.has(id)) dirty.cards.set(id, at)
    for (const [id, at] of failed.groups) if (!dirty.groups.has(id)) dirty.groups.set(id, at)
    dirty.since = failed.since
  }

  /** Records that the document contains the log up to `seq`, and the given edits; see log-times.ts. */
  reached(seq: number, edits: EditBacklog): void {
    this.#times.reached(seq, edits)
  }

  /** The index contains all changes up to this position of the log. */
  indexed(seq: number): void {
    const before = this.#times.take(seq)
    if (before === null) return
    this.#indexedAt = before
    for (const changes of this.#inFlight ? [this.#dirty, this.#inFlight] : [this.#dirty]) {
      dropEarlier(changes.cards, before)
      dropEarlier(changes.groups, before)
      changes.since = Math.max(changes.since, before)
    }
  }

  #changed(kind: keyof Indexed, id: string): void {
    const now = performance.now()
    if (!this.#hasDirty) this.#dirty.since = now
    this.#dirty[kind].set(id, now)
  }

  /**
   * Finds index rows that differ from the document: after a crash, or when another process did not finish its index
   * updates. It runs in turns; nobody changes the document meanwhile.
   */
  async compare(database: Database): Promise<void> {
    const cardRows = await this.#rows(database, 'card')
    const groupRows = await this.#rows(database, 'group')
    const changed = (kind: keyof Indexed) => (id: string) => this.#changed(kind, id)
    const [cards, groups] = [cardsOf(this.#document), groupsOf(this.#document)]
    await inTurns(addDifferent(changed('cards'), cards.keys(), cardRows, (id) => this.#cardRow(id)))
    await inTurns(addDifferent(changed('groups'), groups.keys(), groupRows, (id) => this.#groupRow(id)))
  }

  /** The index rows, by id. They are read in pages, because the driver parses a result in one step. */
  async #rows(database: Database, kind: 'card' | 'group'): Promise<Map<string, IndexedRow>> {
    const found = new Map<string, IndexedRow>()
    for (let after = '', isWhole = false; !isWhole;) {
      const rows = await database.asSystem(
        (tx) => tx<({ id: string } & IndexedRow)[]>`
          select ${tx(`${kind}_id`)} as id, hash, ${kind === 'card' ? tx`anchors::text` : tx`null`} as anchors
          from ${tx(`${kind}_index`)}
          where board_id = ${this.#boardId} and ${tx(`${kind}_id`)} > ${after} and deleted_at is null
          order by ${tx(`${kind}_id`)}
          limit ${rowsAtOnce}`,
      )
      for (const { id, ...row } of rows) found.set(id, row)
      after = rows.at(-1)?.id ?? after
      isWhole = rows.length < rowsAtOnce
    }
    return found
  }

  #groupRow(id: string): GroupRow {
    return projectGroup(this.#document, id)
  }

  /**
   * The row of a card. A card that can't be read is left out of the index; the board's other cards are not affected.
   */
  #cardRow(id: string): CardRow {
    try {
      return projectCard(this.#document, id)
    } catch (error) {
      this.#log.warn(
        { err: error, boardId: this.#boardId, cardId: id.slice(0, 64) },
        'reading a card failed; it is left out of the index',
      )
      return { id, gone: true }
    }
  }

  /** Records the cards and groups that a transaction changed. */
  readonly onTransaction = (transaction: Y.Transaction): void => {
    const indexed = isFromLog(transaction.origin) ? transaction.origin.indexed : nothingIndexed
    for (const [type, keys] of transaction.changed) {
      const place = rootEntry(type)
      const kind = place && this.#kindOf(place.root)
      if (!kind) continue
      for (const key of place.key === null ? keys : [place.key])
        if (key !== null && isCardId(key) && !indexed[kind].has(key)) this.#changed(kind, key) // only these can have a row
    }
  }

  #kindOf(root: object): keyof Indexed | null {
    if (root === cardsOf(this.#document)) return 'cards'
    return root === groupsOf(this.#document) ? 'groups' : null
  }
}

/** Calls `add` with the ids whose row differs from the index, and with those that only the index has. */
function* addDifferent(
  add: (id: string) => void,
  ids: Iterable<string>,
  indexed: Map<string, IndexedRow>,
  rowOf: (id: string) => CardRow | GroupRow,
): Steps<void> {
  for (const id of ids) {
    yield
    const row = rowOf(id)
    if (row.gone) continue
    const there = indexed.get(id)
    // A value that was set again has another item: the same hash, but other anchors. A row without any need not get some.
    if (!there || there.hash !== row.hash || (there.anchors !== null && there.anchors !== anchorsIn(row)))
      add(id)
    indexed.delete(id)
  }
  for (const id of indexed.keys()) {
    yield
    if (rowOf(id).gone) add(id)
  }
}

const anchorsIn = (row: CardRow | GroupRow): string | null =>
  'anchors' in row ? (row.anchors ?? null) : null

/** Removes elements from the start, as long as `goesOn` says so, and returns them. */
function takeSome(from: Times, goesOn: (id: string) => boolean): Times {
  const taken: Times = new Map()
  for (const [id, at] of from) {
    if (!goesOn(id)) break
    taken.set(id, at)
    from.delete(id)
  }
  return taken
}

function dropEarlier(times: Times, before: number): void {
  for (const [id, at] of times) if (at < before) times.delete(id)
}
