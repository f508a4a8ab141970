/** The stream of events, for programs that can't receive webhooks. */
import Type, { type TSchema } from 'typebox'
import { accessEventTypes, eventTypes } from '../../core/events.ts'
import { limits } from '../../core/limits.ts'
import { requireFilter } from '../boards/require-filter.ts'
import { includeOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { id, text } from '../http/vocabulary.ts'

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // nginx must not wait for more
}

const streamAnswer = {
  description:
    'Server-Sent Events. Each has its type in `event`, the body of a webhook delivery in `data`, and an `id`. The first one is `ready`, or `reset`: events may be missing, so read anew what you keep. Lines that begin with a colon keep the connection open.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
} as unknown as TSchema

/** Without `type` a stream is what webhooks get. */
const asked = [...eventTypes, ...accessEventTypes]

export const streamEvents = route('GET /events', 'read', {
  summary: 'Follow events as they happen, as Server-Sent Events.',
  description: `The events are those of webhooks, of everything that the caller may see when an event is sent. Send the \`id\` of the last event in \`Last-Event-ID\` to resume: within ${limits.eventStreams.days} days nothing is missed. The stream ends with its token or session, and when the service stops.`,
  schemas: {
    query: Type.Object({
      workspace: Type.Optional(id('Only events of this workspace.')),
      board: Type.Optional(id('Only events of this board.')),
      type: Type.Optional(
        text(
          `Only events of these types: a comma list of ${asked.map((type) => `\`${type}\``).join(', ')}. Those of access come only when they are named, and tell the caller of its own access.`,
        ),
      ),
    }),
  },
  answers: { 200: streamAnswer },
  answerHeaders: ['cache-control'],
  refuses: ['not_found'],
  resumable: true,
  async handle({ database, eventStreams }, { principal, query, request }) {
    const { workspace, board, type } = query
    const included = includeOf(type, asked, 'type')
    const types = type === undefined ? eventTypes : asked.filter((name) => included[name])
    await database.asUser(principal.userId, (tx) => requireFilter(tx, { workspace, board }))
    if (request.method === 'HEAD') return { headers, body: undefined }
    const wanted = { workspace: workspace?.toLowerCase(), board: board?.toLowerCase(), types }
    const { userId: account, tokenId, session, guest } = principal
    const reader = { account, tokenId, session: session?.claims }
    const lastEventId = request.headers['last-event-id']
    const streamed = { reader, payer: session?.ownerId ?? guest?.ownerId ?? null, wanted }
    return { headers, body: await eventStreams.open(streamed, lastEventId as string | undefined) }
  },
})
