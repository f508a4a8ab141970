import type { Connection } from '@hocuspocus/server'

/** What the gateway knows of a connection; Hocuspocus carries it. */
export interface EditorContext {
  account: string
  tokenId: string
  /** Absent where the service itself opens a document. */
  socket?: { close(code: number, reason: string): void }
}

/** Closing the connection alone would leave the socket open and the provider waiting. */
export function closeConnection(connection: Connection, reason: { code: number; reason: string }): void {
  connection.webSocket.close(reason.code, reason.reason)
  connection.close(reason)
}
