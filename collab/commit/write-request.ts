/** What a writer hands to the commit path, and what it gets back; see commit.ts. */
import type { Identifier } from '../../core/card-values.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { Made } from '../../sql/made.ts'
import type { CardRow, GroupRow } from '../canvas/project.ts'
import type { BoardHead } from '../log/log.ts'

export interface BuiltWrite {
  updates: Uint8Array[]
  /** API clocks that the updates take; zero for deletions. */
  used: number
  rows: CardRow[]
  groups: GroupRow[]
  /** Cards added, for the cap. */
  adds: number
  /** Bytes by which cards and groups get larger. Zero or less: it is written however full the owner's storage is. */
  grows: number
  /** The highest z it sets. */
  top: number | null
  /** Whole cards that it removes, to be kept for their restore tokens. */
  removed: { token: string; id: string; state: Uint8Array }[]
  /** Files that its cards name and the workspace of the board may not have yet; see sql/functions/files.sql. */
  files?: string[]
  /** What no card of the board but `cards` may carry. */
  claims?: { identifiers: Identifier[]; cards: string[] } | null
  /** What the request's idempotency key keeps of it, from which its answer is made again; else the ids of new cards. */
  made?: Made[]
}

export interface WriteRequest {
  op: string
  /** The account whose rights decide. */
  account: string
  /**
   * What it reads of the document: nothing (new cards with positions), some cards, or all of it. Two writes of one
   * board share a commit only when neither reads what the other changes. `position`: nothing of a document that would
   * have to be in memory, but it holds only at the log position of the head that it is built with.
   */
  reads: 'nothing' | 'position' | 'board' | ReadonlySet<string>
  /**
   * Builds the change. Called again when the board has moved on. Throws a ServiceError to refuse. As steps, when it may
   * take long: between them editors may change the document, other writes of the board wait.
   */
  build(head: BoardHead): BuiltWrite | Steps<BuiltWrite>
}

/** Two writes, each on a board of its own, that are committed together or not at all. */
export interface PairRequest {
  op: string
  account: string
  boardIds: [string, string]
  /** How messages name the second board; what the pair adds is added there. */
  where: string
  /** As of a write that reads all of its board, for both boards at once. */
  build(heads: [BoardHead, BoardHead]): [BuiltWrite, BuiltWrite] | Steps<[BuiltWrite, BuiltWrite]>
}

export interface Written {
  seq: number
  /** Time of the commit, in milliseconds. */
  at: number
  /** Times of the rows that are not both `at`. */
  times: Map<string, { created: number; updated: number }>
}
