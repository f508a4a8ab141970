/** The texts of a stream, in the format of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { eventId, type JournalEvent, type Position } from './read-journal.ts'

/** Clients wait this long before they reconnect, plus up to `spreadMs`, so that those of a stopped node don't come all at once. */
const retryMs = 1000
const spreadMs = 3000

/** A frame with an id and no data dispatches nothing. It only moves the client's `Last-Event-ID`. */
const idFrame = (position: Position) => `id: ${eventId(position)}\n\n`

export const openFrame = (position: Position) =>
  Buffer.from(`retry: ${retryMs + Math.floor(Math.random() * spreadMs)}\n${idFrame(position)}`)

/** Moves the id, too. Else a client whose filter matches nothing for a week could not resume. */
export const keepAliveFrame = (position: Position) => Buffer.from(`: keep-alive\n${idFrame(position)}`)

/** Tells the client that events may be missing before this position. */
export const resetFrame = (position: Position) =>
  Buffer.from(`event: reset\ndata: {"type":"reset"}\n${idFrame(position)}`)

/** Returns the frame of an event by account. */
export function frameOf(event: JournalEvent): (account: string) => Buffer {
  const frame = (payload: string) =>
    Buffer.from(`event: ${event.type}\ndata: ${payload}\n${idFrame(event)}`)
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
