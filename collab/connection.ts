import type { Connection } from '@hocuspocus/server'
import { closeCodes } from '../core/errors.ts'

/** What the gateway knows of a connection; Hocuspocus carries it. */
export interface EditorContext {
  account: string
  tokenId: string
}

/** Closing the connection alone would leave the socket open and the provider waiting. */
export function closeConnection(connection: Connection, reason: { code: number; reason: string }): void {
  connection.webSocket.close(reason.code, reason.reason)
  connection.close(reason)
}

/**
 * Refuses an editor for a reason that passes. Hocuspocus answers every failure of a hook with "permission denied", and a
 * provider that is told so stays away for good; the socket turns this reason into a close, after which it comes again.
 */
export function comeAgain(error: unknown): never {
  if (error instanceof Error && !('reason' in error)) Object.assign(error, { reason: comeAgainReason })
  throw error
}

export const comeAgainReason = closeCodes.tryLater.reason
