/**
 * The encoded state of a document, shared by all clients that join. It consists of a *base*, which is encoded once, in
 * several turns of the event loop, and a *tail*: the updates since then. So a join costs little more than sending the
 * bytes, and needs no memory of its own. When the tail gets long, the base is dropped, and the next join makes another.
 */
import * as Y from 'yjs'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { cleared } from '../updates/clear.ts'
import { encodeAtMost, encodeDeletes, encodeStructs, joinPieces } from '../updates/encode-state.ts'

/** A base is dropped after this many updates, */
const maxTailUpdates = 256
/** and when the tail reaches this share of its bytes. Merging a tail takes 20 ms per megabyte. */
const maxTailShare = 1 / 8
const minTailBytes = 64 * 1024
const maxTailBytes = 512 * 1024

/** What a client lacks: two updates, to be applied in this order. */
export interface Missing {
  /** Many clients may get the same bytes. */
  base: Uint8Array
  /** Null when nothing has changed since the base was encoded. */
  tail: Uint8Array | null
  /** Bytes that were encoded for this client alone. */
  encodedBytes: number
}

/** The encoded state of a board, for clients that join. */
export interface EncodedState {
  /** Whether the whole document is encoded for clients without any state. */
  readonly isEncoded: boolean
  /** The document's state vector, encoded. */
  readonly vector: Uint8Array
  /**
   * An estimate of which share of the document a client lacks, from 0 to 1: that of the clocks or that of the structs,
   * whichever is more. Clocks alone say little: a deleted text has a clock for each character, and few bytes.
   *
   * @param known the client's state vector
   */
  shareLacking(known: ReadonlyMap<number, number>): number
  /**
   * Returns what a client lacks that is among the document's connections. It gets later updates by broadcast.
   *
   * @param known the client's state vector; an empty map for the whole document
   * @param mostBytes a client that lacks more gets the whole document, which is encoded for all
   */
  missing(known: ReadonlyMap<number, number>, mostBytes?: number): Promise<Missing>
}

export class SharedState implements EncodedState {
  readonly #document: Y.Doc
  #base: Base | null = null

  constructor(document: Y.Doc) {
    this.#document = document
  }

  get isEncoded(): boolean {
    return this.#base?.isEncoded ?? false
  }

  get vector(): Uint8Array {
    return this.#base ? this.#base.vector : Y.encodeStateVector(this.#document)
  }

  shareLacking(known: ReadonlyMap<number, number>): number {
    const { store } = this.#document
    const all = { clocks: 0, structs: 0 }
    const lacking = { clocks: 0, structs: 0 }
    for (const [client, structs] of store.clients) {
      const state = Y.getState(store, client)
      const from = known.get(client) ?? 0
      all.clocks += state
      all.structs += structs.length
      if (from >= state) continue
      lacking.clocks += state - from
      lacking.structs += structs.length - (from === 0 ? 0 : Y.findIndexSS(structs, from))
    }
    return all.structs === 0 ? 0 : Math.max(lacking.clocks / all.clocks, lacking.structs / all.structs)
  }

  async missing(known: ReadonlyMap<number, number>, mostBytes = Infinity): Promise<Missing> {
    const base = (this.#base ??= new Base(this.#document, () => this.#drop(base)))
    return base.missing(known, mostBytes)
  }

  /** Forgets what is encoded. Call it while nobody waits for `missing`. */
  drop(): void {
    this.#base?.drop()
  }

  #drop(base: Base): void {
    if (this.#base === base) this.#base = null
  }
}

class Base {
  readonly #document: Y.Doc
  /** All deletions. */
  readonly #deletes: Promise<Uint8Array>
  /** All structs and deletions. Null until a client joins that has none of them. */
  #whole: Promise<Uint8Array> | null = null
  #wholeBytes = Infinity
  #vector: Uint8Array | null = null
  #tail: Uint8Array[] = []
  #tailUpdates = 0
  #tailBytes = 0
  /** Joins in progress. */
  #joins = 0
  #isDropped = false
  readonly #onDropped: () => void

  /** @param onDropped called when no further join should use this base */
  constructor(document: Y.Doc, onDropped: () => void) {
    this.#document = document
    this.#onDropped = onDropped
    document.on('update', this.#follow)
    this.#deletes = inTurns(encodeDeletes(document))
  }

  get isEncoded(): boolean {
    return this.#whole !== null
  }

  get vector(): Uint8Array {
    return (this.#vector ??= Y.encodeStateVector(this.#document))
  }

  async missing(known: ReadonlyMap<number, number>, mostBytes: number): Promise<Missing> {
    this.#joins += 1
    try {
      const { store } = this.#document
      const knowsSome = [...known.keys()].some((client) => store.clients.has(client))
      const { base, encodedBytes } = knowsSome
        ? await this.#since(known, mostBytes)
        : { base: await this.#all(), encodedBytes: 0 }
      if (this.#tail.length > 1) this.#tail = [Y.mergeUpdates(this.#tail)]
      return { base, tail: this.#tail[0] ?? null, encodedBytes }
    } finally {
      this.#joins -= 1
      this.#stopIfUnused()
    }
  }

  async #since(
    known: ReadonlyMap<number, number>,
    mostBytes: number,
  ): Promise<Pick<Missing, 'base' | 'encodedBytes'>> {
    const deletes = await this.#clearedDeletes()
    const structs = await inTurns(encodeAtMost(this.#document, known, mostBytes))
    if (structs) {
      const base = await inTurns(joinPieces([...structs, deletes]))
      return { base, encodedBytes: base.byteLength - deletes.byteLength }
    }
    const isFirst = !this.isEncoded
    const base = await this.#all()
    return { base, encodedBytes: mostBytes + (isFirst ? base.byteLength : 0) }
  }

  /** All deletions, when nothing that is deleted is left among the structs. */
  async #clearedDeletes(): Promise<Uint8Array> {
    const deletes = await this.#deletes
    await cleared(this.#document)
    return deletes
  }

  #all(): Promise<Uint8Array> {
    return (this.#whole ??= this.#encodeAll())
  }

  async #encodeAll(): Promise<Uint8Array> {
    const deletes = await this.#clearedDeletes()
    const structs = await inTurns(encodeStructs(this.#document, new Map()))
    const whole = await inTurns(joinPieces([...structs, deletes]))
    this.#wholeBytes = whole.byteLength
    return whole
  }

  readonly #follow = (update: Uint8Array): void => {
    this.#vector = null
    this.#tail.push(update)
    this.#tailUpdates += 1
    this.#tailBytes += update.byteLength
    const mostBytes = Math.min(maxTailBytes, Math.max(minTailBytes, this.#wholeBytes * maxTailShare))
    if (this.#tailUpdates > maxTailUpdates || this.#tailBytes > mostBytes) this.drop()
  }

  drop(): void {
    if (this.#isDropped) return
    this.#isDropped = true
    this.#onDropped()
    this.#stopIfUnused()
  }

  /** A dropped base goes on following the document until the joins that use it have ended. */
  #stopIfUnused(): void {
    if (this.#isDropped && this.#joins === 0) this.#document.off('update', this.#follow)
  }
}
