/** The interface between the commit path and a document in memory. */
import type { CardRow, GroupRow } from '../canvas/project.ts'

export interface FlushRows {
  rows: CardRow[]
  groups: GroupRow[]
  /** Whether more rows follow. The index is complete only after a flush that is not a part. */
  isPart: boolean
}

/** A committed API write, with the cards and groups whose rows were written in the same commit. */
export interface CommittedWrite {
  updates: Uint8Array[]
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

/** A document in memory, as the commit path uses it. */
export interface CommittingDocument {
  /** Whether only its stored bytes are shown. Then nothing can be built on it, and it has nothing to index. */
  readonly isStored: boolean
  /** What each transaction takes of the main thread because the document has many clients, in milliseconds. */
  readonly transactionMs: number
  /** The log position up to which it contains all updates. */
  readonly appliedSeq: number
  /** Whether it contains all known commits; otherwise it is catching up. */
  readonly current: boolean
  /** Whether it may become larger. */
  readonly hasRoom: boolean
  /** The index rows of cards and groups that edits changed; null when no change before `wantedAt` is left to write. */
  project(wantedAt: number): FlushRows | null
  /**
   * Called after a commit of this process. Applies the API's updates when no position is missing before them; otherwise
   * catches up.
   */
  committed(seq: number, writes: CommittedWrite[]): void
  /** The last rows of `project` are in the index. */
  flushed(): void
  /** The last rows of `project` could not be written. */
  flushFailed(): void
  /** Called when another process has committed: catches up. */
  noticed(seq: number): void
  /** Called before writing to `sockets` sockets. Sends pending broadcasts when that saves writes. */
  showWith(sockets: number): void
  /** Calls `then` when acknowledgements of what is in memory may be sent: not long before the broadcast. */
  whenShown(then: () => void): void
  gone(): void
}
