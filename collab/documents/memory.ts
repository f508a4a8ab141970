/**
 * Bounds the memory of documents: of all in this process, and of those that an account pays for. These are the documents
 * of the workspaces that it owns, and the copies that its requests make of them.
 *
 * A board that does not fit is not opened, and a document without room takes nothing that makes it larger. So one account
 * can't end the process, and a document that could be written can be opened again.
 */
import { getHeapStatistics } from 'node:v8'
import type * as Y from 'yjs'
import type { BytesByTier } from '../../core/limits.ts'
import { NoMemory } from '../commit/refusal.ts'
import { countStructs, weigh, weightOf } from '../updates/weight.ts'

export interface MemoryBounds {
  /** Estimated bytes of all documents, */
  totalBytes: number
  /** and of those of one account. */
  accountBytes: BytesByTier
}

/**
 * Shares of Node's heap limit. Other objects, and what is not collected yet, need the rest. Merging the log of a document
 * takes as much memory again, in a thread.
 */
const shares = { total: 0.6, free: 0.09, pro: 0.36 }
/** A document is opened although its account has used up its share, when that is by less than this factor. */
const openingFactor = 1.25
/** For how long a sum of all documents is used. */
const sumMs = 50
const maxPros = 10_000

export function defaultMemoryBounds(): MemoryBounds {
  const { heap_size_limit: limit } = getHeapStatistics()
  return {
    totalBytes: shares.total * limit,
    accountBytes: { free: shares.free * limit, pro: shares.pro * limit },
  }
}

interface Counted {
  account: string
  /** What it took at the time of the sum. */
  bytes: number
}

interface Sums {
  total: number
  readonly accounts: Map<string, number>
  readonly at: number
}

export class DocumentMemory {
  readonly #bounds: MemoryBounds
  readonly #documents = new Map<Y.Doc, Counted>()
  /** Accounts of the tier `pro`, as far as they are known here. */
  readonly #pros = new Set<string>()
  #sums: Sums | null = null

  constructor(bounds: MemoryBounds) {
    this.#bounds = bounds
  }

  get totalBytes(): number {
    return this.#sum().total
  }

  /** Records an account's tier. Until then, it has the share of a free one. */
  knows(account: string, isPro: boolean): void {
    if (this.#pros.size >= maxPros) this.#pros.clear()
    if (isPro) this.#pros.add(account)
    else this.#pros.delete(account)
  }

  /** Counts a document for an account, until it is destroyed. Call it again when another account pays. */
  count(document: Y.Doc, account: string): void {
    if (this.#documents.get(document)?.account === account) return
    if (!this.#documents.has(document)) {
      weigh(document)
      document.once('destroy', () => {
        this.#documents.delete(document)
        this.#sums = null
      })
    }
    this.#documents.set(document, { account, bytes: 0 })
    this.#sums = null
  }

  /** Whether the document may become larger. */
  hasRoom(document: Y.Doc): boolean {
    const { total, own, most } = this.#around(document)
    return total < this.#bounds.totalBytes && own < most
  }

  /**
   * Called while a document is opened. The only document of its account may take what is free.
   *
   * @throws NoMemory when it may not become larger
   */
  requireRoom(document: Y.Doc): void {
    const { total, own, most, isOnly } = this.#around(document)
    if (total >= this.#bounds.totalBytes || (!isOnly && own >= openingFactor * most)) throw new NoMemory()
  }

  /** Whether a document that nobody has open should leave: half of the memory for it and others is used. */
  isTight(document: Y.Doc): boolean {
    const { total, own, most } = this.#around(document)
    return total > this.#bounds.totalBytes / 2 || own > most / 2
  }

  /** Corrects the weights of all documents. */
  recount(): void {
    for (const document of this.#documents.keys()) countStructs(document)
    this.#sums = null
  }

  /** What all documents take, and those of the document's account; its share; and whether the document is the only one. */
  #around(document: Y.Doc): { total: number; own: number; most: number; isOnly: boolean } {
    const { total, accounts } = this.#sum()
    const { account, bytes } = this.#documents.get(document) ?? { account: '', bytes: 0 }
    const own = accounts.get(account) ?? 0
    const grown = weightOf(document) - bytes
    const most = this.#bounds.accountBytes[this.#pros.has(account) ? 'pro' : 'free']
    return { total: total + grown, own: own + grown, most, isOnly: own <= bytes }
  }

  #sum(): Sums {
    const now = performance.now()
    if (this.#sums && now - this.#sums.at < sumMs) return this.#sums
    const sums: Sums = { total: 0, accounts: new Map(), at: now }
    for (const [document, counted] of this.#documents) {
      const bytes = (counted.bytes = weightOf(document))
      sums.total += bytes
      sums.accounts.set(counted.account, (sums.accounts.get(counted.account) ?? 0) + bytes)
    }
    return (this.#sums = sums)
  }
}
