/** A client of live lists: the stock Hocuspocus provider. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { until } from './editor.ts'

export interface ListClient {
  provider: HocuspocusProvider
  socket: HocuspocusProviderWebsocket
  /** All messages, in order. */
  messages: any[]
  /** The events among them. */
  events(): { id: string; type: string; body: any }[]
  /** The counts of people, as the messages leave them. */
  people(): Record<string, number>
  readonly refusal: string | null
  readonly closes: number[]
  leave(): void
}

interface Opening {
  name: string
  token: string
  /** Shares the socket of another client. */
  socket?: HocuspocusProviderWebsocket
}

export async function openList(url: string, { name, token, socket: given }: Opening): Promise<ListClient> {
  const messages: any[] = []
  const closes: number[] = []
  let refusal: string | null = null
  const socket =
    given ??
    new HocuspocusProviderWebsocket({
      url: `${url.replace('http', 'ws')}/collab`,
      WebSocketPolyfill: WebSocket,
      ...{ delay: 50, minDelay: 50, maxDelay: 200, jitter: false },
      onClose: ({ event }) => {
        closes.push(event.code)
        socket.shouldConnect = false
      },
    })
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name,
    token,
    document: new Y.Doc(),
    onAuthenticationFailed: ({ reason }) => (refusal = reason),
    onStateless: ({ payload }) => messages.push(JSON.parse(payload)),
  })
  provider.attach()
  const client: ListClient = {
    provider,
    socket,
    messages,
    closes,
    events: () =>
      messages
        .filter(({ type }) => type === 'event')
        .map(({ id, event }) => ({ id, type: event.type, body: event })),
    people: () =>
      messages
        .filter(({ type }) => type === 'people')
        .reduce((known, { all, boards }) => ({ ...(all ? {} : known), ...boards }), {}),
    get refusal() {
      return refusal
    },
    leave() {
      provider.destroy()
      socket.destroy()
    },
  }
  onTestFinished(() => client.leave())
  await until(() => refusal !== null || messages.length > 0, 'the list is open, or refused')
  return client
}
