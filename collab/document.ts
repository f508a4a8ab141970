/**
 * A board's document in memory: how far it holds the log, and which cards changed since the index was told.
 * The log is the truth; this is a cache of it that can be dropped when nothing is outstanding.
 */
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import { isCardId } from '../core/card.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../sql/database.ts'
import { cardsOf, groupsOf } from './canvas.ts'
import type { BoardQueue, CommittedWrite, CommittingDocument, FlushRows } from './board-queue.ts'
import type { CommitQueue } from './commit.ts'
import { replay, tail } from './log.ts'
import { projectCard, projectGroup, type CardRow } from './project.ts'

/** Origin of what comes from the log: it is committed, and must not be queued again. */
interface LogOrigin {
  source: 'local'
  skipStoreHooks: boolean
  fromLog: true
  /** Cards and groups whose index rows went with the commit. */
  indexed: Indexed
}

export interface DocumentContext {
  database: Database
  queue: CommitQueue
  log: Logger
}

/** Rows of one flush: the commits of all boards wait while they are written. More of them go in parts. */
const maxFlushRows = 1000

/** How long a broadcast may wait for more. */
export const broadcastWindowMs = 4

type SharedType = Parameters<Y.Transaction['changed']['get']>[0]

interface Indexed {
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

const nothing: Indexed = { cards: new Set(), groups: new Set() }

export class BoardDocument implements CommittingDocument {
  readonly boardId: string
  readonly document: Document
  readonly queue: BoardQueue
  workspaceId = ''
  appliedSeq = 0
  /** Bytes of snapshot and log when it was loaded, and what came since: a measure of its size. */
  sizeBytes = 0
  lastUsedAt = 0
  readonly #context: DocumentContext
  #knownSeq = 0
  #loading = true
  #broadcastAt = 0
  #isGone = false
  #isDistrusted = false
  #catchingUp: Promise<void> | null = null
  /**
   * Cards whose rows may be behind. From the end of `load` on, these and the rows that ride with API writes account for
   * every difference between document and index, so that a flush makes the index complete.
   */
  readonly #dirtyCards = new Set<string>()
  readonly #dirtyGroups = new Set<string>()
  #flushing: { cards: Set<string>; groups: Set<string> } | null = null

  constructor(boardId: string, document: Document, queue: BoardQueue, context: DocumentContext) {
    this.boardId = boardId
    this.document = document
    this.queue = queue
    this.#context = context
  }

  get current(): boolean {
    return (
      !this.#loading &&
      !this.#isGone &&
      !this.#isDistrusted &&
      !this.#catchingUp &&
      this.appliedSeq >= this.#knownSeq
    )
  }

  /** Whether something would be lost, or not be indexed, if it were dropped now. */
  get outstanding(): boolean {
    return (
      !this.#isGone &&
      (!this.queue.idle || this.#dirtyCards.size > 0 || this.#dirtyGroups.size > 0 || this.#flushing !== null)
    )
  }

  /** Nobody may build on it any more; it is loaded anew when what it had queued is committed. */
  get isDistrusted(): boolean {
    return this.#isDistrusted
  }

  get isGone(): boolean {
    return this.#isGone
  }

  get editors(): number {
    return this.document.connections.size
  }

  /** Reads the log and takes its place on the commit path. Throws when the board is not there. */
  async load(): Promise<void> {
    cardsOf(this.document)
    groupsOf(this.document)
    this.queue.document = this // from here on it hears of commits, also of those that land while it loads
    try {
      const first = await this.#applyTail()
      this.workspaceId = first.workspaceId
      // What was committed meanwhile, here or elsewhere, is there before anybody is shown the document.
      do await this.#applyTail()
      while (this.appliedSeq < this.#knownSeq)
      if (first.indexedSeq < first.seq) await this.#findUnindexed()
    } catch (error) {
      if (this.queue.document === this) this.queue.document = null
      throw error
    }
    this.document.on('update', this.#onUpdate)
    this.document.on('afterTransaction', this.#onTransaction)
    this.#loading = false
    this.noticed(this.#knownSeq)
    if (this.#dirtyCards.size > 0 || this.#dirtyGroups.size > 0) void this.#context.queue.flush(this.boardId)
  }

  /** What it holds may not be in the log. It hears and says nothing any more. */
  distrust(): void {
    this.#isDistrusted = true
    this.drop()
  }

  /** It leaves memory. */
  drop(): void {
    if (this.queue.document === this) this.queue.document = null
    this.document.off('update', this.#onUpdate)
    this.document.off('afterTransaction', this.#onTransaction)
  }

  /**
   * Shows an edit to the open canvases: at once when the board is quiet; else what comes within a few milliseconds goes
   * together (Hocuspocus' `flushDelay`), since each broadcast is a write to every socket.
   */
  broadcast(): void {
    const now = performance.now()
    if (now - this.#broadcastAt >= broadcastWindowMs) this.show()
  }

  showWith(sockets: number): void {
    if (sockets * 2 >= this.editors) this.show()
  }

  show(): void {
    this.#broadcastAt = performance.now()
    this.document.flush()
  }

  /** Resolves when it holds all that is known to be committed. */
  async settled(): Promise<void> {
    while (this.#catchingUp) await this.#catchingUp
  }

  // ---- the commit path

  committed(seq: number, writes: CommittedWrite[]): void {
    if (!this.#loading && !this.#catchingUp && seq === this.appliedSeq + 1) {
      for (const { updates, ...indexed } of writes) this.#applyFromLog(updates, indexed)
      this.appliedSeq = seq
      if (this.#knownSeq < seq) this.#knownSeq = seq
    } else this.noticed(seq)
  }

  noticed(seq: number): void {
    if (seq > this.#knownSeq) this.#knownSeq = seq
    if (this.#loading || this.#isGone || this.appliedSeq >= this.#knownSeq || this.#catchingUp) return
    this.#catchingUp = this.#catchUp().finally(() => {
      this.#catchingUp = null
      this.#context.queue.wake()
    })
  }

  project(): FlushRows | null {
    const { head } = this.queue
    const behind = head !== null && head.indexedSeq < head.seq // by edits that touched no card, if by nothing else
    if (this.#dirtyCards.size === 0 && this.#dirtyGroups.size === 0 && !behind) return null
    const cards = takeSome(this.#dirtyCards, maxFlushRows)
    const groups = takeSome(this.#dirtyGroups, maxFlushRows - cards.size)
    this.#flushing = { cards, groups }
    return {
      rows: [...cards].map((id) => this.#project(id)).filter((row) => row !== null),
      groups: [...groups].map((id) => projectGroup(this.document, id)),
      isPart: this.#dirtyCards.size > 0 || this.#dirtyGroups.size > 0,
    }
  }

  flushed(): void {
    this.#flushing = null
  }

  flushFailed(): void {
    for (const id of this.#flushing?.cards ?? []) this.#dirtyCards.add(id)
    for (const id of this.#flushing?.groups ?? []) this.#dirtyGroups.add(id)
    this.#flushing = null
  }

  gone(): void {
    this.#isGone = true
  }

  /** What it takes up, merged: of what came since it was loaded, much has been overwritten. */
  measured(sizeBytes: number): void {
    this.sizeBytes = sizeBytes
  }

  // ---- the log

  async #catchUp(): Promise<void> {
    for (let attempt = 0; this.appliedSeq < this.#knownSeq && !this.#isGone; attempt++) {
      try {
        await this.#applyTail()
      } catch (error) {
        this.#context.log.warn(
          { err: error, boardId: this.boardId, attempt },
          'a document cannot catch up with its log; trying again',
        )
        await new Promise((resolve) => setTimeout(resolve, Math.min(1000, 20 * 2 ** attempt)))
      }
    }
  }

  async #applyTail(): Promise<{ workspaceId: string; seq: number; indexedSeq: number }> {
    const found = await tail(this.#context.database, this.boardId, this.appliedSeq)
    if (!found) {
      this.#isGone = true
      throw new Error('The board is not there.')
    }
    const { updates, snapshot, ...head } = found
    const origin: LogOrigin = { source: 'local', skipStoreHooks: false, fromLog: true, indexed: nothing }
    replay(this.document, { snapshot, updates }, { origin, failed: this.#applyFailed })
    this.sizeBytes = head.snapshotBytes + head.logBytes
    this.appliedSeq = head.seq
    this.#knownSeq = Math.max(this.#knownSeq, head.seq)
    if ((this.queue.head?.seq ?? -1) <= head.seq) this.queue.head = head
    return head
  }

  #applyFromLog(updates: Uint8Array[], indexed: Indexed): void {
    // If editors' structs wait for what now comes, more than the written cards may change.
    const waiting = this.document.store.pendingStructs !== null
    const origin: LogOrigin = {
      source: 'local',
      skipStoreHooks: false,
      fromLog: true,
      indexed: waiting ? nothing : indexed,
    }
    const apply = () => {
      for (const update of updates) {
        try {
          Y.applyUpdate(this.document, update, origin)
        } catch (error) {
          this.#applyFailed(error) // it is committed: to fail here would be to write it again
        }
        this.sizeBytes += update.byteLength
      }
    }
    Y.transact(this.document, apply, origin, false)
  }

  readonly #applyFailed = (error: unknown): void => {
    this.#context.log.error(
      { err: error, boardId: this.boardId },
      'an update of the log cannot be applied whole',
    )
  }

  /** Rows that differ from what the document says: after a crash, or when another process left them undone. */
  async #findUnindexed(): Promise<void> {
    const [cards, groups] = await this.#context.database.asSystem((tx) =>
      Promise.all([
        tx<{ id: string; hash: string }[]>`
          select card_id as id, hash from card_index where board_id = ${this.boardId} and deleted_at is null`,
        tx<{ id: string; hash: string }[]>`
          select group_id as id, hash from group_index where board_id = ${this.boardId} and deleted_at is null`,
      ]),
    )
    const cardHashes = new Map(cards.map((row) => [row.id, row.hash]))
    for (const id of cardsOf(this.document).keys()) {
      const row = this.#project(id)
      if (row && !row.gone && cardHashes.get(id) !== row.hash) this.#dirtyCards.add(id)
      if (row && !row.gone) cardHashes.delete(id)
    }
    const groupHashes = new Map(groups.map((row) => [row.id, row.hash]))
    for (const id of groupsOf(this.document).keys()) {
      const row = projectGroup(this.document, id)
      if (!row.gone && groupHashes.get(id) !== row.hash) this.#dirtyGroups.add(id)
      if (!row.gone) groupHashes.delete(id)
    }
    for (const id of cardHashes.keys()) if (this.#project(id)?.gone) this.#dirtyCards.add(id)
    for (const id of groupHashes.keys()) if (projectGroup(this.document, id).gone) this.#dirtyGroups.add(id)
  }

  /** Null when a card cannot be read at all; it is left out, and the board goes on. */
  #project(id: string): CardRow | null {
    try {
      return projectCard(this.document, id)
    } catch (error) {
      this.#context.log.warn(
        { err: error, boardId: this.boardId, cardId: id.slice(0, 64) },
        'a card cannot be read; it is left out of the index',
      )
      return { id, gone: true }
    }
  }

  // ---- what changes in memory

  readonly #onUpdate = (update: Uint8Array, origin: unknown): void => {
    if (isFromLog(origin)) return
    this.sizeBytes += update.byteLength
    this.#context.queue.edit(this.queue, update, actorsOf(origin), framesOf(origin))
  }

  #dirtyUnder(root: object): { dirty: Set<string>; kind: keyof Indexed } | null {
    if (root === cardsOf(this.document)) return { dirty: this.#dirtyCards, kind: 'cards' }
    return root === groupsOf(this.document) ? { dirty: this.#dirtyGroups, kind: 'groups' } : null
  }

  readonly #onTransaction = (transaction: Y.Transaction): void => {
    const indexed = isFromLog(transaction.origin) ? transaction.origin.indexed : nothing
    for (const [type, keys] of transaction.changed) {
      const place = rootEntry(type)
      if (!place) continue
      const under = this.#dirtyUnder(place.root)
      if (!under) continue
      for (const key of place.key === null ? keys : [place.key])
        if (key !== null && isCardId(key) && !indexed[under.kind].has(key)) under.dirty.add(key) // no other can have a row
    }
  }
}

/** Takes up to so many out of a set. */
function takeSome(from: Set<string>, most: number): Set<string> {
  const taken = new Set<string>()
  for (const id of from) {
    if (taken.size >= most) break
    taken.add(id)
    from.delete(id)
  }
  return taken
}

/** Whether a change comes from the log, and so is committed. */
export function isFromLog(origin: unknown): origin is LogOrigin {
  return typeof origin === 'object' && origin !== null && 'fromLog' in origin
}

const framesOf = (origin: unknown): number => (origin as { frames?: number } | null)?.frames ?? 1

/** The accounts behind an edit: of a turn's edits, or of the connection that Hocuspocus names. */
function actorsOf(origin: unknown): string[] {
  const known = origin as { actors?: string[]; connection?: { context?: { account?: string } } } | null
  if (known?.actors) return known.actors
  const account = known?.connection?.context?.account
  return account === undefined ? [] : [account]
}

/** The root that a type lies under, and the entry of it; key null when it is the root itself. */
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
