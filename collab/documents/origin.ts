/** The sources of a document's changes, which Yjs calls a transaction's origin. */
import type { Connection } from '@hocuspocus/server'
import type { QueuedEdit } from '../commit/edit-backlog.ts'

/** Cards and groups whose index rows were written in the same commit as the change. */
export interface Indexed {
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

/** No index rows were written with the change, so each changed card may be ahead of the index. */
export const nothingIndexed: Indexed = { cards: new Set(), groups: new Set() }

/** Origin of updates from the log. They are committed, and must not be queued again. */
export interface LogOrigin {
  source: 'local'
  skipStoreHooks: boolean
  fromLog: true
  indexed: Indexed
}

/** Origin of a transaction with the edits of several connections. */
export interface TurnOrigin {
  source: 'local'
  skipStoreHooks: boolean
  actors: string[]
  /** Ids of the actors' tokens and sessions. */
  tokens: string[]
  frames: number
  /** The only connection whose frames are in the transaction; undefined when there are several. */
  sender?: Connection | undefined
  /** Bytes that guests sent, by account; undefined when no guest wrote. */
  guests?: Map<string, number> | undefined
}

/** The part of the gateway's connection context that is used here. */
interface Author {
  account: string
  tokenId: string
  isGuest: boolean
}

/** Whether a change comes from the log, and therefore is committed. */
export function isFromLog(origin: unknown): origin is LogOrigin {
  return typeof origin === 'object' && origin !== null && 'fromLog' in origin
}

/** The only connection that sent a change; undefined when there are several, or none. */
export const senderOf = (origin: unknown): Connection | undefined =>
  (origin as Partial<TurnOrigin> | null)?.sender

type Authors = Pick<QueuedEdit, 'actors' | 'tokens' | 'guests'> & { frames?: number }

/** The accounts that made an edit: those of a turn, or that of the connection that Hocuspocus names. */
export function authorsOf(origin: unknown, update: Uint8Array): Authors {
  const known = origin as (Partial<TurnOrigin> & { connection?: { context?: Author } }) | null
  if (known?.actors) {
    const { actors, tokens, frames = 1 } = known
    // Content that was sent twice is stored once, so the update's size is the limit.
    const sent =
      known.guests &&
      [...known.guests].map(([account, bytes]) => [account, Math.min(bytes, update.byteLength)] as const)
    return { actors, tokens, guests: sent && new Map(sent), frames }
  }
  const author = known?.connection?.context
  if (!author) return { actors: [] }
  const { account, tokenId, isGuest } = author
  return {
    actors: [account],
    tokens: [tokenId],
    guests: isGuest ? new Map([[account, update.byteLength]]) : undefined,
  }
}
