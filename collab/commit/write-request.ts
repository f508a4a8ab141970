/** A write request for the commit path, and its result; see commit.ts. */
import type { Identifier } from '../../core/card-values.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { RestsOn } from '../../sql/commit-call.ts'
import type { Made } from '../../sql/made.ts'
import type { CardRow, GroupRow } from '../canvas/project.ts'
import type { BoardHead } from '../log/log.ts'

export interface BuiltWrite {
  updates: Uint8Array[]
  /** The number of API clocks that the updates take; 0 for deletions. */
  used: number
  rows: CardRow[]
  groups: GroupRow[]
  /** The number of cards added, for the card limit. */
  adds: number
  /** Bytes by which cards and groups grow. At 0 or below, the write succeeds even when the owner's storage is full. */
  grows: number
  /** The highest z that the write sets. */
  top: number | null
  /** Complete removed cards, which are stored for their restore tokens. */
  removed: { token: string; id: string; state: Uint8Array }[]
  /** Files that the cards refer to and that the board's workspace may lack; see sql/functions/files.sql. */
  files?: string[]
  /** Identifiers that no card of the board may have, except `cards`. */
  claims?: { identifiers: Identifier[]; cards: string[] } | null
  /** What is stored with the request's idempotency key to rebuild its answer. Default: the ids of new cards. */
  made?: Made[]
}

export interface WriteRequest {
  /** The account whose rights are checked. */
  account: string
  /**
   * What the write reads of the document: nothing (new cards with positions), some cards, or the whole board. Two
   * writes of one board share a commit only when neither reads cards that the other changes. `position`: it needs no
   * document in memory, but is valid only at the log position of the head it is built with.
   */
  reads: 'nothing' | 'position' | 'board' | ReadonlySet<string>
  /** What the write reads of the index in place of the document. The commit refuses it with `MovedOn` when that has changed. */
  restsOn?: RestsOn | undefined
  /**
   * Builds the change. Called again when the board has changed meanwhile. Throws a ServiceError to refuse. A change
   * that may take long is built in steps. Between them editors may change the document, while other writes of the board
   * wait.
   */
  build(head: BoardHead): BuiltWrite | Steps<BuiltWrite>
}

/** Two writes, each on a board of its own, that are committed together or not at all. */
export interface PairRequest {
  account: string
  boardIds: [string, string]
  /** How messages name the second board. Cards and storage that the pair adds are counted on it. */
  where: string
  /** Builds both changes, like `WriteRequest.build` for a write that reads the whole board. */
  build(heads: [BoardHead, BoardHead]): [BuiltWrite, BuiltWrite] | Steps<[BuiltWrite, BuiltWrite]>
}

export interface Written {
  seq: number
  /** The time of the commit, in milliseconds. */
  at: number
  /** Times of the rows for which they are not both `at`. */
  times: Map<string, { created: number; updated: number }>
}
