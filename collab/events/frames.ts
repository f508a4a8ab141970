/** The texts of a stream, in the format of Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { EventMessage } from './messages.ts'
import { eventId, type Position } from './position.ts'

/** Clients wait this long before they reconnect, plus up to `spreadMs`, so that those of a stopped node don't come all at once. */
const retryMs = 1000
const spreadMs = 3000

/** The first frame. `reset`: events may be missing before this position. Else `ready`. */
export const firstFrame = (type: 'ready' | 'reset', position: Position) => {
  const retry = retryMs + Math.floor(Math.random() * spreadMs)
  return Buffer.from(
    `retry: ${retry}\nevent: ${type}\ndata: {"type":"${type}"}\nid: ${eventId(position)}\n\n`,
  )
}

/** A frame with an id and no data only moves the `Last-Event-ID`. Else a client could not resume after a week without events. */
export const keepAliveFrame = (position: Position) =>
  Buffer.from(`: keep-alive\nid: ${eventId(position)}\n\n`)

export const frameOf = (message: EventMessage): Buffer =>
  message.as('frame', ({ id, type, payload }) =>
    Buffer.from(`event: ${type}\ndata: ${payload}\nid: ${id}\n\n`),
  )
