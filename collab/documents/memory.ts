/**
 * Bounds the memory of documents: of all in this process, and of those that an account pays for. These are the documents
 * of the workspaces that it owns; and, in a share of their own, the copies that its requests make.
 *
 * A board that does not fit is not opened, and a document without room takes nothing that makes it larger. So one account
 * can't end the process, and a document that could be written can be opened again.
 */
import { getHeapStatistics } from 'node:v8'
import type * as Y from 'yjs'
import type { BytesByTier } from '../../core/limits.ts'
import { payerOf } from '../../platform/work/payers.ts'
import { NoMemory } from '../commit/refusal.ts'
import { weigh, type Weight } from '../updates/weight.ts'

export interface MemoryBounds {
  /** Estimated bytes of all documents. Beyond it, an account may only take its part: as much as any other one. */
  totalBytes: number
  /** Of the documents of one account, and of its copies. A copy counts as that of a free account unless the tier is known. */
  accountBytes: BytesByTier
}

/**
 * Shares of Node's heap limit. Other objects, and what is not collected yet, need the rest. Merging the log of a document
 * takes as much memory again, in a thread.
 */
const shares = { total: 0.6, free: 0.09, pro: 0.36 }
/** With so much more than `totalBytes`, no document may become larger. */
const ceilingFactor = 1.25
/**
 * A document is opened although its account has used up its share, when that is by less than the first factor. One that
 * is open may become larger by what others commit up to the second: opening one board does not close another.
 */
const [openingFactor, followingFactor] = [1.25, 1.5]
/** For how long a sum of all documents is used when an editor's update arrives. What opens a document sums them anew, */
const sumMs = 50
/** unless there are very many. Summing this many takes up to a tenth of a millisecond, and loading one asks ten times. */
const documentsPerMs = 500

export function defaultMemoryBounds(): MemoryBounds {
  const { heap_size_limit: limit } = getHeapStatistics()
  return {
    totalBytes: shares.total * limit,
    accountBytes: { free: shares.free * limit, pro: shares.pro * limit },
  }
}

export interface Payer {
  /** For a user of minted sessions, and for a guest, the account that pays for them counts. */
  account: string
  /** Null when the tier is not known. */
  isPro: boolean | null
  kind: 'live' | 'copies'
}

interface Counted extends Payer {
  readonly weight: Weight
  /** What it took at the time of the sum. */
  summed: number
  /** Whether it is about to be destroyed. It doesn't count then. */
  isLeaving: boolean
}

class Account {
  live = 0
  copies = 0
  isPro = false
}

export class DocumentMemory {
  readonly #bounds: MemoryBounds
  readonly #documents = new Map<Y.Doc, Counted>()
  /** Accounts that had too little since the last sweep. */
  readonly #pressed = new Set<string>()
  /** By account and kind: the document that was opened when it was the only one. */
  readonly #only = new Map<string, Y.Doc>()
  #total = 0
  #accounts = new Map<string, Account>()
  #summedAt = -Infinity

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds
  }

  get totalBytes(): number {
    this.#sum()
    return this.#total
  }

  /** Counts a document until it is destroyed. Call it again when another account pays. */
  count(document: Y.Doc, { account, ...how }: Payer): void {
    if (document.isDestroyed) return
    const payer = { ...how, account: payerOf(account) }
    const counted = this.#documents.get(document)
    if (!counted) {
      const added = { ...payer, weight: weigh(document), summed: 0, isLeaving: false }
      this.#documents.set(document, added)
      document.once('destroy', () => {
        this.#takeOut(document, added)
        this.#documents.delete(document)
      })
    } else if (counted.account === payer.account) counted.isPro = payer.isPro
    else {
      this.#takeOut(document, counted)
      Object.assign(counted, payer)
    }
  }

  /** A document that is about to be destroyed doesn't count, unless it `stays`. */
  leaves(document: Y.Doc): void {
    const counted = this.#documents.get(document)
    if (!counted) return
    this.#takeOut(document, counted)
    counted.isLeaving = true
  }

  stays(document: Y.Doc): void {
    const counted = this.#documents.get(document)
    if (counted) counted.isLeaving = false
  }

  #takeOut(document: Y.Doc, counted: Counted): void {
    const { account, kind, summed } = counted
    const only = onlyOf(counted)
    if (this.#only.get(only) === document) this.#only.delete(only)
    const sums = this.#accounts.get(account)
    if (!sums) return
    this.#total -= summed
    sums[kind] -= summed
    counted.summed = 0
  }

  /** Whether a live document may become larger. */
  hasRoom(document: Y.Doc): boolean {
    const { account, own, most, isShort } = this.#around(document)
    const hasRoom = own < most && !isShort
    if (!hasRoom) this.#pressed.add(account)
    return hasRoom
  }

  /**
   * For a document that is being opened: returns a function that throws NoMemory when the document may not become larger.
   * The only one of its account may take what is free.
   */
  opening(document: Y.Doc): () => void {
    const isOnly = this.#isOnly(document)
    return () => this.#require(document, isOnly, openingFactor)
  }

  /**
   * For an open document that others make larger: returns a function that throws NoMemory when the document has grown
   * since, and there is no room for it.
   */
  following(document: Y.Doc): () => void {
    const weight = weigh(document)
    const { bytes } = weight
    return () => {
      if (weight.bytes > bytes) this.#require(document, this.#around(document).others === 0, followingFactor)
    }
  }

  #require(document: Y.Doc, isOnly: boolean, factor: number): void {
    this.#sum(0)
    const { account, own, most, isShort } = this.#around(document)
    if (!isShort && (isOnly || own < factor * most)) return
    this.#pressed.add(account)
    throw new NoMemory()
  }

  /** Of documents that are opened at once, none of which takes memory yet, one is the only one. */
  #isOnly(document: Y.Doc): boolean {
    this.#sum(0)
    const counted = this.#documents.get(document)
    if (!counted || this.#around(document).others > 0) return false
    return this.#only.getOrInsert(onlyOf(counted), document) === document
  }

  /** Whether a document that nobody has open should leave, because its account, or everybody, may need the memory. */
  isTight(document: Y.Doc): boolean {
    const { account, own, others, most } = this.#around(document)
    const isHalfUsed = this.#total > this.#bounds.totalBytes / 2 || (others > 0 && own > most / 2)
    return isHalfUsed || this.#pressed.has(account)
  }

  /** Called after documents have left. */
  relieved(): void {
    this.#pressed.clear()
  }

  /** Corrects the weights of all documents. */
  recount(): void {
    for (const { weight } of this.#documents.values()) weight.correct()
    this.#summedAt = -Infinity
  }

  /**
   * `own`: what documents of its kind take of the document's account, `others` without it. `most`: their share. `isShort`:
   * no memory is left at all, or too little, and the account has more than its part of it.
   */
  #around(document: Y.Doc) {
    this.#sum()
    const counted = this.#documents.get(document)
    const account = (counted && this.#accounts.get(counted.account)) ?? new Account()
    const { totalBytes, accountBytes } = this.#bounds
    const { kind = 'live', summed = 0, weight } = counted ?? {}
    const grown = (weight?.bytes ?? 0) - summed
    const own = account[kind] + grown
    const total = this.#total + grown
    // Copies leave soon, so they don't hold up who edits.
    const part = kind === 'live' ? own : account.live + own
    const isShort =
      total >= ceilingFactor * totalBytes || (total >= totalBytes && part >= totalBytes / this.#accounts.size)
    return {
      account: counted?.account ?? '',
      own,
      others: account[kind] - summed,
      most: accountBytes[account.isPro ? 'pro' : 'free'],
      isShort,
    }
  }

  /** Sums all documents, unless that was done in the last `mostMs`, or not long ago for their number. */
  #sum(mostMs = sumMs): void {
    const now = performance.now()
    const leastMs = Math.floor(this.#documents.size / documentsPerMs)
    if (now - this.#summedAt < Math.max(mostMs, leastMs)) return
    this.#summedAt = now
    this.#total = 0
    this.#accounts = new Map()
    for (const counted of this.#documents.values()) {
      if (counted.isLeaving) continue
      const { kind, isPro, weight } = counted
      const account = this.#accounts.getOrInsertComputed(counted.account, () => new Account())
      counted.summed = weight.bytes
      account[kind] += counted.summed
      if (isPro) account.isPro = true
      this.#total += counted.summed
    }
  }
}

const onlyOf = ({ account, kind }: Payer) => `${kind} ${account}`
