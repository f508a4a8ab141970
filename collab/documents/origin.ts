/** Where a change of a document comes from: Yjs calls it the origin of the transaction. */
import type { QueuedEdit } from '../commit/edit-backlog.ts'

/** Cards and groups whose index rows went with the commit. */
export interface Indexed {
  cards: ReadonlySet<string>
  groups: ReadonlySet<string>
}

/** No row went with it: each card that changes may be ahead of the index. */
export const nothingIndexed: Indexed = { cards: new Set(), groups: new Set() }

/** Origin of what comes from the log: it is committed, and must not be queued again. */
export interface LogOrigin {
  source: 'local'
  skipStoreHooks: boolean
  fromLog: true
  indexed: Indexed
}

/** Origin of a transaction that holds the edits of several connections. */
export interface TurnOrigin {
  source: 'local'
  skipStoreHooks: boolean
  actors: string[]
  frames: number
  /** Bytes that guests sent, by account; undefined when none did. */
  guests?: Map<string, number> | undefined
}

/** What the gateway puts into the context of a connection, as far as it matters here. */
interface Author {
  account: string
  isGuest: boolean
}

/** Whether a change comes from the log, and so is committed. */
export function isFromLog(origin: unknown): origin is LogOrigin {
  return typeof origin === 'object' && origin !== null && 'fromLog' in origin
}

type Authors = Pick<QueuedEdit, 'actors' | 'guests'> & { frames?: number }

/** Whose edit it is: the editors of a turn, or the one whose connection Hocuspocus names. */
export function authorsOf(origin: unknown, update: Uint8Array): Authors {
  const known = origin as (Partial<TurnOrigin> & { connection?: { context?: Author } }) | null
  if (known?.actors) {
    const { actors, frames = 1 } = known
    // What was sent again is not there twice.
    const sent = known.guests && [...known.guests].map(([account, bytes]) => [account, Math.min(bytes, update.byteLength)] as const) // prettier-ignore
    return { actors, guests: sent && new Map(sent), frames }
  }
  const author = known?.connection?.context
  if (!author) return { actors: [] }
  const { account, isGuest } = author
  return { actors: [account], guests: isGuest ? new Map([[account, update.byteLength]]) : undefined }
}
