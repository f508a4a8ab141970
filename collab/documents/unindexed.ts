/**
 * Records which cards and groups of a document in memory may differ from their index rows. Builds the rows that update
 * the index.
 */
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import { isCardId } from '../../core/card.ts'
import type { Logger } from '../../platform/log.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import { projectCard, projectGroup, type CardRow, type GroupRow } from '../canvas/project.ts'
import type { FlushRows } from '../commit/committing-document.ts'
import { isFromLog, nothingIndexed, type Indexed } from './origin.ts'

/** Rows in one flush. The commits of all boards wait while they are written; further rows go into the next flush. */
const maxFlushRows = 1000
/** Time for reading the rows of one flush. With huge cards, a flush has fewer rows. */
const flushMs = 10

/** Index rows that are read at once. They take a few milliseconds. */
const hashesAtOnce = 5000

type SharedType = Parameters<Y.Transaction['changed']['get']>[0]

/**
 * After `compare`, every difference between document and index is either recorded here or in the rows that are
 * committed with API writes. So a flush completes the index.
 *
 *   a card or group   becomes     when
 *   indexed           dirty       a transaction changes it, and that commit does not write its row
 *   dirty             in flight   `project` has put its row into a flush
 *   in flight         indexed     `flushed`
 *   in flight         dirty       `flushFailed`, or it is changed again
 */
export class Unindexed {
  readonly #boardId: string
  readonly #document: Document
  readonly #log: Logger
  readonly #dirty: { cards: Set<string>; groups: Set<string> } = { cards: new Set(), groups: new Set() }
  #inFlight: Indexed | null = null

  constructor(boardId: string, document: Document, log: Logger) {
    this.#boardId = boardId
    this.#document = document
    this.#log = log
  }

  get isOutstanding(): boolean {
    return this.#hasDirty || this.#inFlight !== null
  }

  get #hasDirty(): boolean {
    return this.#dirty.cards.size > 0 || this.#dirty.groups.size > 0
  }

  /**
   * Returns the rows of a flush; null when there is nothing to do. When nothing is dirty but the index is `behind`, the
   * flush has no rows: it only updates the indexed position.
   */
  project(behind: boolean): FlushRows | null {
    if (!this.#hasDirty && !behind) return null
    const cards = new Set<string>()
    const rows: CardRow[] = []
    const until = performance.now() + flushMs
    for (const id of this.#dirty.cards) {
      if (cards.size >= maxFlushRows || performance.now() >= until) break
      cards.add(id)
      this.#dirty.cards.delete(id)
      rows.push(this.#cardRow(id))
    }
    const groups = takeSome(this.#dirty.groups, maxFlushRows - cards.size)
    this.#inFlight = { cards, groups }
    return { rows, groups: [...groups].map((id) => this.#groupRow(id)), isPart: this.#hasDirty }
  }

  /** The last rows of `project` are in the index. */
  flushed(): void {
    this.#inFlight = null
  }

  /** The last rows of `project` could not be written. They are dirty again. */
  flushFailed(): void {
    for (const id of this.#inFlight?.cards ?? []) this.#dirty.cards.add(id)
    for (const id of this.#inFlight?.groups ?? []) this.#dirty.groups.add(id)
    this.#inFlight = null
  }

  /**
   * Finds index rows that differ from the document: after a crash, or when another process did not finish its index
   * updates. It runs in turns; nobody changes the document meanwhile.
   */
  async compare(database: Database): Promise<void> {
    const { cards, groups } = this.#dirty
    const cardHashes = await this.#hashes(database, 'card')
    const groupHashes = await this.#hashes(database, 'group')
    await inTurns(addDifferent(cards, cardsOf(this.#document).keys(), cardHashes, (id) => this.#cardRow(id)))
    await inTurns(
      addDifferent(groups, groupsOf(this.#document).keys(), groupHashes, (id) => this.#groupRow(id)),
    )
  }

  /** The hashes of the index rows, by id. They are read in pages, because the driver parses a result in one step. */
  async #hashes(database: Database, kind: 'card' | 'group'): Promise<Map<string, string>> {
    const hashes = new Map<string, string>()
    for (let after = '', isWhole = false; !isWhole;) {
      const rows = await database.asSystem(
        (tx) => tx<{ id: string; hash: string }[]>`
          select ${tx(`${kind}_id`)} as id, hash
          from ${tx(`${kind}_index`)}
          where board_id = ${this.#boardId} and ${tx(`${kind}_id`)} > ${after} and deleted_at is null
          order by ${tx(`${kind}_id`)}
          limit ${hashesAtOnce}`,
      )
      for (const { id, hash } of rows) hashes.set(id, hash)
      after = rows.at(-1)?.id ?? after
      isWhole = rows.length < hashesAtOnce
    }
    return hashes
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
        if (key !== null && isCardId(key) && !indexed[kind].has(key)) this.#dirty[kind].add(key) // only these can have a row
    }
  }

  #kindOf(root: object): keyof Indexed | null {
    if (root === cardsOf(this.#document)) return 'cards'
    return root === groupsOf(this.#document) ? 'groups' : null
  }
}

/** Adds the ids whose row differs from the index, and those that only the index has. */
function* addDifferent(
  dirty: Set<string>,
  ids: Iterable<string>,
  hashes: Map<string, string>,
  rowOf: (id: string) => CardRow | GroupRow,
): Steps<void> {
  for (const id of ids) {
    yield
    const row = rowOf(id)
    if (row.gone) continue
    if (hashes.get(id) !== row.hash) dirty.add(id)
    hashes.delete(id)
  }
  for (const id of hashes.keys()) {
    yield
    if (rowOf(id).gone) dirty.add(id)
  }
}

/** Removes up to `most` elements from a set and returns them. */
function takeSome(from: Set<string>, most: number): Set<string> {
  const taken = new Set<string>()
  for (const id of from) {
    if (taken.size >= most) break
    taken.add(id)
    from.delete(id)
  }
  return taken
}

/** The root type that contains a type, and the key of its entry there; null when the type is the root itself. */
function rootEntry(type: SharedType): { root: SharedType; key: string | null } | null {
  let inner = type
  let key: string | null = null
  for (let depth = 0; depth < 10_000; depth++) {
    const item: Y.Item | null = inner._item
    if (!item) return { root: inner, key }
    if (!(item.parent instanceof Y.AbstractType)) return null
    key = item.parentSub
    inner = item.parent
  }
  return null
}
