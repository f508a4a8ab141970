/**
 * A board's document in memory: how far it holds the log, and which cards changed since the index was told.
 * The log is the truth; this is a cache of it that can be dropped when nothing is outstanding.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Document } from '@hocuspocus/server'
import * as Y from 'yjs'
import { isCardId } from '../../core/card.ts'
import type { Logger } from '../../platform/log.ts'
import { atOnce, inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import { cardsOf, groupsOf } from '../canvas/canvas.ts'
import type { BoardQueue, CommittedWrite, CommittingDocument, FlushRows } from '../commit/board-queue.ts'
import type { CommitQueue } from '../commit/commit.ts'
import { isTooCostly, type LogLoader } from './load.ts'
import { authorsOf, isFromLog, type Indexed, type LogOrigin } from './origin.ts'
import { bytesOf, keepFormats, tail } from '../log/log.ts'
import { projectCard, projectGroup, type CardRow } from '../canvas/project.ts'

export interface DocumentContext {
  database: Database
  queue: CommitQueue
  loader: LogLoader
  log: Logger
}

/** Rows of one flush: the commits of all boards wait while they are written. More of them go in parts. */
const maxFlushRows = 1000
/** Reading them takes no longer than this: of huge cards a flush takes fewer. */
const flushMs = 10

/** A commit whose updates are larger is applied in turns. */
const inlineApplyBytes = 256 * 1024

/** How long a broadcast may wait for more. */
export const broadcastWindowMs = 4

/** When a log that took too long to merge is tried again. */
export const costlyRetryMs = 600_000

type SharedType = Parameters<Y.Transaction['changed']['get']>[0]

const nothing: Indexed = { cards: new Set(), groups: new Set() }

export class BoardDocument implements CommittingDocument {
  readonly boardId: string
  readonly document: Document
  readonly queue: BoardQueue
  workspaceId = ''
  appliedSeq = 0
  /** Bytes of snapshot and log when it was loaded, and what came since: a measure of its size. */
  sizeBytes = 0
  /** What placing its items took, in steps of meter.ts: when it was loaded, and since then. */
  mergeSteps = 0
  lastUsedAt = 0
  readonly #context: DocumentContext
  #knownSeq = 0
  /** The newest position that a canvas was to be shown when it was closed because it reads too slowly. */
  #missedSeq = -1
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
    keepFormats(document)
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
      let head = await this.#applyTail()
      this.workspaceId = head.workspaceId
      // What was committed meanwhile, here or elsewhere, is there before anybody is shown the document.
      do head = await this.#applyTail()
      while (this.appliedSeq < this.#knownSeq)
      // By the newest position: of what came while it was loading, nobody has noted which cards it changed.
      if (head.indexedSeq < head.seq) await this.#findUnindexed()
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

  /** A canvas was closed because it reads too slowly. */
  missed(): void {
    this.#missedSeq = this.#knownSeq
  }

  /** Whether a canvas was closed instead of being shown this position. */
  hasMissed(seq: number): boolean {
    return this.#missedSeq >= seq
  }

  // ---- the commit path

  committed(seq: number, writes: CommittedWrite[]): void {
    if (!this.#loading && !this.#catchingUp && seq === this.appliedSeq + 1) {
      if (this.#knownSeq < seq) this.#knownSeq = seq
      const size = writes.reduce((sum, { updates }) => sum + bytesOf(updates), 0)
      if (size > inlineApplyBytes) {
        this.#follow(inTurns(this.#applyWrites(seq, writes)))
        return
      }
      atOnce(this.#applyWrites(seq, writes))
    } else this.noticed(seq)
  }

  noticed(seq: number): void {
    if (seq > this.#knownSeq) this.#knownSeq = seq
    if (this.#loading || this.#isGone || this.appliedSeq >= this.#knownSeq || this.#catchingUp) return
    this.#follow(this.#catchUp())
  }

  /** Nobody builds on it meanwhile. */
  #follow(work: Promise<void>): void {
    this.#catchingUp = work.finally(() => {
      this.#catchingUp = null
      this.noticed(this.#knownSeq)
      this.#context.queue.wake()
    })
  }

  project(): FlushRows | null {
    const { head } = this.queue
    const behind = head !== null && head.indexedSeq < head.seq // by edits that touched no card, if by nothing else
    if (this.#dirtyCards.size === 0 && this.#dirtyGroups.size === 0 && !behind) return null
    const cards = new Set<string>()
    const rows: CardRow[] = []
    const until = performance.now() + flushMs
    for (const id of this.#dirtyCards) {
      if (cards.size >= maxFlushRows || performance.now() >= until) break
      cards.add(id)
      this.#dirtyCards.delete(id)
      const row = this.#project(id)
      if (row) rows.push(row)
    }
    const groups = takeSome(this.#dirtyGroups, maxFlushRows - cards.size)
    this.#flushing = { cards, groups }
    return {
      rows,
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
        const waitMs = isTooCostly(error) ? costlyRetryMs : Math.min(1000, 20 * 2 ** attempt)
        await delay(waitMs, undefined, { ref: false })
      }
    }
  }

  async #applyTail(): Promise<{ workspaceId: string; seq: number; indexedSeq: number }> {
    const found = await tail(this.#context.database, this.boardId, this.appliedSeq)
    if (!found) {
      this.#isGone = true
      throw new Error('The board is not there.')
    }
    const { updates, snapshot, ownerId, ...head } = found
    const origin: LogOrigin = { source: 'local', skipStoreHooks: false, fromLog: true, indexed: nothing }
    const how = { account: ownerId, origin, failed: this.#applyFailed }
    this.mergeSteps += await this.#context.loader.apply(this.document, { snapshot, updates }, how)
    this.sizeBytes = head.snapshotBytes + head.logBytes
    this.appliedSeq = head.seq
    this.#knownSeq = Math.max(this.#knownSeq, head.seq)
    if ((this.queue.head?.seq ?? -1) <= head.seq) this.queue.head = head
    return head
  }

  *#applyWrites(seq: number, writes: CommittedWrite[]): Steps<void> {
    for (const { updates, ...indexed } of writes) {
      for (const part of partsOf(updates)) {
        this.#applyFromLog(part, indexed)
        yield
      }
    }
    this.appliedSeq = seq
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
    this.#context.queue.edit(this.queue, { update, ...authorsOf(origin, update) })
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

/** Updates that are applied in one transaction: about as many bytes as take a few milliseconds. */
function* partsOf(updates: Uint8Array[]): Iterable<Uint8Array[]> {
  let part: Uint8Array[] = []
  for (const update of updates) {
    part.push(update)
    if (bytesOf(part) < inlineApplyBytes) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
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
