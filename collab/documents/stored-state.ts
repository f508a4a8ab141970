/**
 * The encoded state of a board that has no document in memory. All clients that join share it. It is read from the log
 * when the first of them joins. Commits that are sent to the canvases are kept behind it, as a tail.
 */
import * as Y from 'yjs'
import type { EncodedState, Missing } from './shared-state.ts'

/** A base is dropped after this many updates, or bytes of updates. The next join reads another. */
const maxTailUpdates = 256
const maxTailBytes = 512 * 1024

/** What the log contained at a position. */
export interface StoredContent {
  seq: number
  /** An update (V1). */
  state: Uint8Array
  vector: Uint8Array
}

export interface StoredStateOptions {
  /** The position that the board has. */
  seq: number
  /** The state vector of all clients, encoded; null when there is no client yet. */
  vector: Uint8Array | null
  read(): Promise<StoredContent>
  /** Sends an update to all canvases. */
  send(update: Uint8Array): void
  /** Called with the bytes that are in memory from now on, less those that no longer are. */
  weighs(bytes: number): void
}

const noVector = Y.encodeStateVector(new Map())

export class StoredState implements EncodedState {
  readonly #options: StoredStateOptions
  readonly #bases = new Set<Base>()
  #base: Base | null = null
  /** The state that each client has; null while no client has any. */
  #known: Map<number, number> | null = null
  #vector: Uint8Array = noVector
  #successor: EncodedState | null = null
  /** All clients have, or will get, what the log contains up to this position. */
  seq: number

  constructor(options: StoredStateOptions) {
    const { seq, vector } = options
    this.#options = options
    this.seq = seq
    if (!vector) return
    this.#known = Y.decodeStateVector(vector)
    this.#vector = vector
  }

  get isEncoded(): boolean {
    return this.#successor?.isEncoded ?? this.#base !== null
  }

  get vector(): Uint8Array {
    return this.#successor?.vector ?? this.#vector
  }

  /** The state that each client has; null while no client has any. */
  get known(): ReadonlyMap<number, number> | null {
    return this.#known
  }

  /** Clients that have some of the document need the document: see `Receiver.answer`. */
  shareLacking(known: ReadonlyMap<number, number>): number {
    return this.#successor?.shareLacking(known) ?? 1
  }

  async missing(known: ReadonlyMap<number, number>, mostBytes?: number): Promise<Missing> {
    const ofSuccessor = () => this.#successor?.missing(known, mostBytes)
    if (this.#successor) return this.#successor.missing(known, mostBytes)
    const base = (this.#base ??= this.#begin())
    base.joins += 1
    try {
      const content = await base.content
      const newer = ofSuccessor()
      if (newer) return await newer
      this.#known ??= Y.decodeStateVector(content.vector)
      this.#vector = content.vector
      return { base: content.state, tail: base.tailAfter(content.seq), encodedBytes: 0 }
    } finally {
      base.joins -= 1
      if (base !== this.#base) this.#drop(base)
    }
  }

  /** Sends the updates of one commit to all canvases. */
  send(seq: number, updates: Uint8Array[]): void {
    this.seq = seq
    for (const update of updates) {
      this.#options.send(update)
      this.#advance(update)
      for (const base of this.#bases) base.follow(seq, update)
    }
    if (this.#base?.isLong) this.#leave()
  }

  /** From now on another state answers. Joins that still wait for this one get that. */
  end(successor: EncodedState): void {
    this.#successor = successor
    this.#leave()
  }

  #begin(): Base {
    const base = new Base(this.#options.read())
    this.#bases.add(base)
    base.content.then(
      ({ state }) => {
        if (this.#bases.has(base)) this.#options.weighs((base.bytes = state.byteLength))
      },
      () => {
        if (this.#base === base) this.#leave()
      },
    )
    return base
  }

  #leave(): void {
    const base = this.#base
    this.#base = null
    if (base) this.#drop(base)
  }

  #drop(base: Base): void {
    if (base.joins > 0 || !this.#bases.delete(base)) return
    this.#options.weighs(-base.bytes)
  }

  #advance(update: Uint8Array): void {
    if (!this.#known) return
    const { from, to } = Y.parseUpdateMeta(update)
    for (const [client, clock] of to)
      if ((this.#known.get(client) ?? 0) >= (from.get(client) ?? 0))
        this.#known.set(client, Math.max(clock, this.#known.get(client) ?? 0))
  }
}

class Base {
  readonly content: Promise<StoredContent>
  /** Joins that wait for it. */
  joins = 0
  bytes = 0
  #tail: { seq: number; update: Uint8Array }[] = []
  #tailBytes = 0

  constructor(content: Promise<StoredContent>) {
    this.content = content
  }

  get isLong(): boolean {
    return this.#tail.length > maxTailUpdates || this.#tailBytes > maxTailBytes
  }

  follow(seq: number, update: Uint8Array): void {
    this.#tail.push({ seq, update })
    this.#tailBytes += update.byteLength
  }

  /** The updates that the content at this position does not have. */
  tailAfter(position: number): Uint8Array | null {
    this.#tail = this.#tail.filter(({ seq }) => seq > position)
    if (this.#tail.length > 1) {
      const update = Y.mergeUpdates(this.#tail.map((one) => one.update))
      this.#tail = [{ seq: this.#tail.at(-1)!.seq, update }]
    }
    return this.#tail[0]?.update ?? null
  }
}
