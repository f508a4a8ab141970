import type { Connection, Document } from '@hocuspocus/server'
import type { Rates } from './rates.ts'

/** What the gateway knows of a connection; Hocuspocus carries it. */
export interface EditorContext {
  account: string
  /** Of the token, or of the session. */
  tokenId: string
  /** It is not a member of the board's workspace, and writes there by a share. */
  isGuest: boolean
  seat: Seat
}

/** One board, open on one socket. */
export interface Seat {
  account: string
  /** The account's. */
  rates: Rates
  /** Null before it is established, and after its end. */
  connection: Connection<EditorContext> | null
  /** Awareness clients that it speaks for. */
  readonly clients: Set<number>
  /** Updates that were refused since it became a viewer's. */
  refused: number
  /** Updates that were refused and come again with its next SyncStep2: the provider counts on an acknowledgement for each. */
  owed: number
  /** What the editor was told of the storage of documents; see room-notice.ts. */
  room: RoomNotice
}

/** `full`: there is none, what is open may be gone on with. `waits`: there was none, so the connection is read-only. */
export type RoomNotice = 'ok' | 'full' | 'waits'

/** Closing the connection alone would leave the socket open and the provider waiting. */
export function closeConnection(connection: Connection, reason: { code: number; reason: string }): void {
  connection.webSocket.close(reason.code, reason.reason)
  connection.close(reason)
}

/** All connections of a board. */
export function closeDocument(
  document: Document | undefined,
  reason: { code: number; reason: string },
): void {
  for (const connection of document?.getConnections() ?? []) closeConnection(connection, reason)
}
