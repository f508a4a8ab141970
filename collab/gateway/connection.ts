import type { Connection, Document } from '@hocuspocus/server'
import type { AccessQuestion } from '../access.ts'
import type { Hold } from '../documents/open-boards.ts'
import type { Rates } from './rates.ts'
import type { Speaker } from '../awareness/room.ts'

/** The gateway's data about a connection. Hocuspocus carries it as the connection's context. */
export interface EditorContext {
  account: string
  /** For which the sockets on a board are counted: the account, or the link that a guest came by. */
  countedAs: string
  /** What is asked several times a second for as long as the board is open, and its key. */
  question: AccessQuestion
  questionKey: string
  /** The account is not a member of the board's workspace, but writes on the board through a share. */
  isGuest: boolean
  /** It is a program: a service account, a connected application, or a session whose user is one. */
  isAgent: boolean
  seat: Seat
}

/** Who is shown on a board: a socket that has it open, or an API client. */
export interface Voice extends Speaker {
  /** The rate limits of the account's sockets. Null for an API client: its requests are limited. */
  rates: Rates | null
  /** Null before the connection is established, after it has ended, and for an API client. */
  connection: Connection<EditorContext> | null
}

/** One board that is open on one socket. */
export interface Seat extends Voice {
  /** For a session, and for a guest of a link: the owner of the workspace, whose limits apply. Null for other accounts. */
  payer: string | null
  rates: Rates
  /** Keeps the board registered as open on this node. */
  hold: Hold
  /** Updates refused since the connection became read-only. */
  refused: number
  /**
   * Refused updates that the client will send again in its next SyncStep2. The provider expects an acknowledgement for
   * each.
   */
  owed: number
  /** The last notice about the owner's storage that the editor received; see room-notice.ts. */
  room: RoomNotice
}

/**
 * `full`: no storage is left, but open boards may still be edited. `waits`: no storage was left when the board was
 * opened, so the connection is read-only.
 */
export type RoomNotice = 'ok' | 'full' | 'waits'

/**
 * Closes a connection and its socket. With only the connection closed, the socket would stay open and the provider
 * would wait.
 */
export function closeConnection(connection: Connection, reason: { code: number; reason: string }): void {
  connection.webSocket.close(reason.code, reason.reason)
  connection.close(reason)
}

/** Closes all connections of a board. */
export function closeDocument(
  document: Document | undefined,
  reason: { code: number; reason: string },
): void {
  for (const connection of document?.getConnections() ?? []) closeConnection(connection, reason)
}
