/** Who follows the journal of events: an answer of `GET /events`, or a live list on a socket. */
import type { SessionClaims } from '../../sql/acting-session.ts'
import { isAfter, type JournalEvent, type Position } from './position.ts'
import type { EventMessage } from './messages.ts'

/** The account that follows, and by which right. */
export interface Reader {
  account: string
  /** The id of the token, or of the session of a browser. For a minted session that of its minter's token. */
  tokenId: string
  /** The minted session in which the account acts. Undefined: none. */
  session: SessionClaims | undefined
}

/** What the client asks for. Undefined: everything that it may see. */
export interface StreamFilter {
  workspace?: string | undefined
  board?: string | undefined
  types?: readonly string[] | undefined
}

export interface Follower {
  readonly reader: Reader
  readonly wanted: StreamFilter
  /** Whether the reader must see the whole workspace that it wants, and be no guest of a link. */
  readonly isList: boolean
  /** All events up to this position were sent, or were not for this follower. */
  position: Position
  readonly isOver: boolean
  /** Whether the client has read most of what was sent. */
  readonly hasRoom: boolean
  /** Bytes that were sent and not read. */
  readonly unreadBytes: number
  send(message: EventMessage): void
  keepAlive(): void
  /** Waits until there is room, the follower is over, or `ms` have passed. */
  room(ms: number): Promise<void>
  /** Ends it, because its access has ended or the service stops. */
  finish(why: 'access' | 'stop'): void
  /** Ends it at once: its client reads nothing, or has to connect again. */
  cutOff(why: 'slow' | 'fault'): void
}

/** Equal readers have the same key. */
export const readerKey = ({ account, session }: Reader): string =>
  session ? `${account} ${session.issued}` : account

/** Whether the event comes after the follower's position, and is one that it asks for. */
export function wants({ position, wanted }: Follower, event: JournalEvent): boolean {
  const { workspace, board, types } = wanted
  return (
    isAfter(event, position) &&
    (workspace === undefined || event.workspace_id === workspace) &&
    (board === undefined || event.board_id === board) &&
    (types === undefined || types.includes(event.type))
  )
}
