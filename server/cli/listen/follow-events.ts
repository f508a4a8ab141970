/** Reads `GET /events` of a service. Reconnects when the connection is lost, so that no event is missed. */
import { setTimeout as delay } from 'node:timers/promises'
// Chosen because it is what clients of this format use, without a dependency of its own.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { EventSourceMessage } from 'eventsource-parser'

export interface FollowedEvent {
  id: string
  type: string
  /** The exact text of the event. */
  data: string
}

export interface FollowOptions {
  /** The stream, with its filters. */
  url: string
  token: string
  /** Called with one event after the other. The next one waits until the promise resolves. */
  handle(event: FollowedEvent): Promise<void>
  /** Called when the connection was lost or refused, before the next attempt. */
  lost(reason: string): void
}

/** The service sends a line every 15 seconds. One that sends nothing for this time is gone. */
const silentMs = 45_000
const retryMs = 1000
/** A token or a filter that is wrong stays wrong. */
const finalStatuses = [400, 401, 403, 404]

/** Runs until the service refuses the request for good. @throws Error: its message says why */
export async function followEvents(options: FollowOptions): Promise<never> {
  const state: State = { lastId: undefined, waitMs: retryMs }
  for (;;) {
    const answer = await connect(options, state)
    if (typeof answer !== 'string' && finalStatuses.includes(answer.status))
      throw new Error(`The service refuses the stream: ${await refusalOf(answer)}`)
    options.lost(await readAll(answer, options, state))
    await delay(state.waitMs)
  }
}

interface State {
  lastId: string | undefined
  /** The wait before the next connection. */
  waitMs: number
}

/** @returns the answer, or the error */
async function connect({ url, token }: FollowOptions, { lastId }: State): Promise<Response | string> {
  const resume = lastId === undefined ? {} : { 'last-event-id': lastId }
  try {
    return await fetch(url, { headers: { authorization: `Bearer ${token}`, ...resume } })
  } catch (error) {
    return `The service can't be reached: ${reasonOf(error)}`
  }
}

/** Handles the events of an answer. @returns why it ended */
async function readAll(answer: Response | string, options: FollowOptions, state: State): Promise<string> {
  if (typeof answer === 'string') return answer
  if (!answer.ok) {
    state.waitMs = Number(answer.headers.get('retry-after') ?? 1) * 1000
    return refusalOf(answer)
  }
  const silence = new Silence()
  const parser = new EventSourceParserStream({ onRetry: (ms) => (state.waitMs = ms) })
  const handling = new WritableStream<EventSourceMessage>({
    async write({ id = '', event = '', data }) {
      if (event !== 'ready') await options.handle({ id, type: event, data })
      state.lastId = id
    },
  })
  try {
    await answer
      .body!.pipeThrough(silence.listener)
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(parser)
      .pipeTo(handling, { signal: silence.signal })
    return 'The stream has ended.'
  } catch (error) {
    return `The connection was lost: ${reasonOf(error)}`
  } finally {
    silence.stop()
  }
}

/** Aborts its signal when nothing has passed for `silentMs`. */
class Silence {
  readonly #controller = new AbortController()
  readonly signal = this.#controller.signal
  #timer: NodeJS.Timeout | undefined
  readonly listener = new TransformStream<Uint8Array, Uint8Array>({
    start: () => this.#heard(),
    transform: (chunk, controller) => {
      this.#heard()
      controller.enqueue(chunk)
    },
  })

  stop(): void {
    clearTimeout(this.#timer)
  }

  #heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#controller.abort(new Error('the service sends nothing')), silentMs)
  }
}

async function refusalOf(answer: Response): Promise<string> {
  const text = await answer.text()
  try {
    return (JSON.parse(text) as { error: string }).error
  } catch {
    return `It answered ${answer.status}. Check the URL.`
  }
}

/** `fetch` puts the reason into the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return `${cause instanceof Error ? cause.message || message : message}.`
}
