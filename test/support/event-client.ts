/** A client of `GET /events`. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { onTestFinished } from 'vitest'
import { until } from './editor.ts'
import type { TestUser } from './service.ts'

type Caller = Pick<TestUser, 'token'>

export interface StreamedEvent {
  id: string
  type: string
  body: { type: string; board: { id: string } | null; data: Record<string, any> }
}

export class EventClient {
  /** Without `ready` and `reset`. */
  readonly events: StreamedEvent[] = []
  /** The first event: `ready` or `reset`. */
  first = ''
  lastId = ''
  comments = 0
  ended = false
  readonly #abort = new AbortController()

  constructor(body: ReadableStream<Uint8Array>) {
    void this.#read(body)
  }

  /** The ids of the cards of all events of this type. */
  cards(type = 'card.created'): string[] {
    return this.events.filter((event) => event.type === type).flatMap(({ body }) => body.data['card_ids'])
  }

  /** Breaks the connection. */
  cut(): void {
    this.#abort.abort()
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = new EventSourceParserStream({ onComment: () => (this.comments += 1) })
    const text = body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>
    try {
      const { signal } = this.#abort
      const taken = new WritableStream<{ id?: string; event?: string; data: string }>({
        write: ({ id = '', event = '', data }) => {
          this.lastId = id
          if (this.first === '') this.first = event
          else this.events.push({ id, type: event, body: JSON.parse(data) })
        },
      })
      await text.pipeThrough(parser).pipeTo(taken, { signal })
    } catch {
      // cut off
    }
    this.ended = true
  }
}

interface Opening {
  query?: string
  lastEventId?: string
}

export const requestEvents = (url: string, user: Caller, { query = '', lastEventId }: Opening = {}) =>
  fetch(`${url}/api/v1/events${query}`, {
    headers: {
      authorization: `Bearer ${user.token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  })

/** Opens a stream. It is cut at the end of the test. */
export async function openEvents(url: string, user: Caller, opening: Opening = {}): Promise<EventClient> {
  const answer = await requestEvents(url, user, opening)
  if (answer.status !== 200) throw new Error(`GET /events: ${answer.status} ${await answer.text()}`)
  const client = new EventClient(answer.body!)
  onTestFinished(() => client.cut())
  await until(() => client.first !== '', 'the first event is there')
  return client
}
