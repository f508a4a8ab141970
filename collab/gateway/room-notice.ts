/**
 * Tells editors whether the board's owner has storage left, as a stateless message:
 *
 *   {"type":"documents","full":true,"read_only":false}   no storage is left; open boards may still be edited
 *   {"type":"documents","full":true,"read_only":true}    no storage is left; the connection is read-only until there is
 *   {"type":"documents","full":false,"read_only":false}  there is storage again
 *
 * A connection that was opened without storage left is read-only. So is that of a guest who has used up the guests'
 * share.
 */
import type { Connection, Extension } from '@hocuspocus/server'
import type { BoardAccess } from '../access.ts'
import type { EditorContext, RoomNotice } from './connection.ts'
import type { DocumentQuota } from '../commit/document-quota.ts'

/** On connecting without storage left, tells the editor why the connection is read-only. */
export const roomNotice: Extension<EditorContext> = {
  extensionName: 'room-notice',
  connected: async ({ connection, context }) => {
    if (context.seat.room !== 'ok') say(connection, context.seat.room)
  },
}

/** Updates the connection's notice, and sends it when it changed. @returns whether the connection may write */
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
