/** The texts of a stream, in the format of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { eventId, type JournalEvent, type Position } from './read-journal.ts'

/** Clients wait this long before they reconnect, plus up to `spreadMs`, so that those of a stopped node don't come all at once. */
const retryMs = 1000
const spreadMs = 3000

const idFrame = (position: Position) => `id: ${eventId(position)}\n\n`

/** The first frame. `reset`: events may be missing before this position. Else `ready`. */
export const firstFrame = (type: 'ready' | 'reset', position: Position) => {
  const retry = retryMs + Math.floor(Math.random() * spreadMs)
  return Buffer.from(`retry: ${retry}\nevent: ${type}\ndata: {"type":"${type}"}\n${idFrame(position)}`)
}

/** A frame with an id and no data only moves the `Last-Event-ID`. Else a client could not resume after a week without events. */
export const keepAliveFrame = (position: Position) => Buffer.from(`: keep-alive\n${idFrame(position)}`)

/** Returns the frame of an event by account. */
export function frameOf(event: JournalEvent): (account: string) => Buffer {
  const frame = (payload: string) => Buffer.from(`event: ${event.type}\ndata: ${payload}\n${idFrame(event)}`)
  let forMembers: Buffer | null = null
  let forGuests: Buffer | null = null
  return (account) =>
    event.members.includes(account)
      ? (forMembers ??= frame(event.payload!))
      : (forGuests ??= frame(payloadForGuests(event.payload!)))
}

/** A guest of a board may not see its parent, nor the board from which cards came. */
function payloadForGuests(payload: string): string {
  const body = JSON.parse(payload) as { data: Record<string, unknown> }
  const { from_board_id: _from, ...data } = body.data
  if ('parent_board_id' in data) data['parent_board_id'] = null
  return JSON.stringify({ ...body, data })
}
