/**
 * Tells editors whether the board's owner has room for what they write, as a stateless message:
 *
 *   {"type":"documents","full":true,"read_only":false}   there is none; what is open may be gone on with
 *   {"type":"documents","full":true,"read_only":true}    there is none; the connection is read-only until there is
 *   {"type":"documents","full":false,"read_only":false}  there is room again
 *
 * A connection that was opened without room is read-only, and so is that of a guest who has added as much as guests may.
 */
import type { Connection, Extension } from '@hocuspocus/server'
import type { BoardAccess } from '../access.ts'
import type { EditorContext, RoomNotice } from './connection.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'

/** A connection that is opened without room learns why it is read-only. */
export const roomNotice: Extension<EditorContext> = {
  extensionName: 'room-notice',
  connected: async ({ connection, context }) => {
    if (context.seat.room !== 'ok') say(connection, context.seat.room)
  },
}

/** Tells the editor when that has changed. @returns whether the connection may write */
export function mayWriteOn(
  connection: Connection<EditorContext>,
  access: BoardAccess,
  quota: DocumentQuota,
): boolean {
  const { context, document } = connection
  const room = roomOf(access, quota.seemsFull(document.name), context.seat.room)
  if (room !== 'ok') quota.watch(document.name)
  if (room !== context.seat.room) {
    context.seat.room = room
    say(connection, room)
  }
  return access.may === 'write' && room !== 'waits'
}

function roomOf({ may }: BoardAccess, isFull: boolean, before: RoomNotice): RoomNotice {
  if (may === 'full') return 'waits'
  if (may !== 'write' || !isFull) return 'ok'
  return before === 'waits' ? 'waits' : 'full'
}

function say(connection: Connection<EditorContext>, room: RoomNotice): void {
  connection.sendStateless(
    JSON.stringify({ type: 'documents', full: room !== 'ok', read_only: room === 'waits' }),
  )
}
