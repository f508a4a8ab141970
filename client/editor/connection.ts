/** The connection of a board: the stock provider, with new tokens, the save status, and reasons in words. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import type * as Y from 'yjs'
import { readToken, type TokenSource } from '../token.ts'
import { Acknowledgements, type SocketClass } from './acknowledgements.ts'
import { closeReason, refusalReason, type Reason } from './reasons.ts'
import { DerivedStore, type Store } from './store.ts'

export interface ConnectionOptions {
  /** The service's address, such as `https://boards.example.com`. */
  url: string
  /** The board's id. */
  board: string
  token: TokenSource
  /** Default: that of the runtime. Node has one from version 22; before that, give that of the package `ws`. */
  WebSocket?: SocketClass
  /** Called with messages of the service, such as notifications. docs/editors.md lists them. */
  onMessage?: (message: { type: string } & Record<string, unknown>) => void
}

export interface BoardStatus {
  /** `closed` ends with reconnect() alone. */
  connection: 'connecting' | 'open' | 'closed'
  /** Whether everything in the document is acknowledged by the service, and so durable. */
  saved: boolean
  /** Whether the service takes no changes of this account. */
  readOnly: boolean
  /** Whether the owner's storage of documents is full. */
  full: boolean
  /** Why the board is not open. */
  reason: Reason | null
}

export interface Connection {
  readonly provider: HocuspocusProvider
  readonly status: Store<BoardStatus>
  /** Connects again, such as after a new sign-in. */
  reconnect(): void
  destroy(): void
}

/** How long to wait after `try-later`. */
const laterMs = 10_000

export function connect(document: Y.Doc, options: ConnectionOptions): Connection {
  const name = options.board.toLowerCase()
  const { WebSocket: Socket = globalThis.WebSocket as SocketClass | undefined } = options
  if (!Socket)
    throw new TypeError('This runtime has no WebSocket. Give one, such as that of the package `ws`.')
  const status = new DerivedStore((): BoardStatus => ({
    connection: state,
    saved: acknowledgements.saved,
    readOnly: provider.authorizedScope === 'readonly',
    full,
    reason,
  }))
  const acknowledgements = new Acknowledgements(name, () => status.changed())
  let state: BoardStatus['connection'] = 'connecting'
  let reason: Reason | null = null
  let full = false
  /** The service has refused the last token. */
  let refused = false
  let later: ReturnType<typeof setTimeout> | undefined

  const become = (next: BoardStatus['connection'], why: Reason | null) => {
    state = next
    reason = why
    if (next === 'closed') socket.disconnect()
    status.changed()
  }
  /** A function may have another token. It is asked once. */
  const canRenew = () => typeof options.token === 'function' && !refused
  const comeBack = () => {
    // The provider connects again when its socket is closed.
    socket.shouldConnect = true
    socket.webSocket?.close()
  }

  const socket = new HocuspocusProviderWebsocket({
    url: `${options.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/collab/${name}`,
    WebSocketPolyfill: acknowledgements.counted(Socket),
    onClose: ({ event }) => {
      if (state === 'closed') return
      const why = closeReason(event.code)
      const renews = why.name === 'access-ended' && canRenew()
      if (renews) refused = true
      become(why.comesBack || renews ? 'connecting' : 'closed', why)
    },
  })
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name,
    document,
    token: () => readToken(options.token, refused),
    onAuthenticated: () => {
      refused = false
      status.changed()
    },
    onAuthenticationFailed: ({ reason: word }) => {
      const why = refusalReason(word)
      if (why.name === 'token-invalid' && canRenew()) {
        refused = true
        comeBack()
      } else if (why.comesBack) {
        become('connecting', why)
        later = setTimeout(comeBack, laterMs)
      } else become('closed', why)
    },
    onSynced: () => become('open', null),
    onStateless: ({ payload }) => {
      const message = JSON.parse(payload) as { type: string } & Record<string, unknown>
      if (message.type === 'documents') full = message['full'] === true
      status.changed()
      options.onMessage?.(message)
    },
  })
  acknowledgements.watch(document, () => provider)
  provider.attach()
  return {
    provider,
    status,
    reconnect() {
      become('connecting', null)
      refused = typeof options.token === 'function'
      void socket.connect()
    },
    destroy() {
      clearTimeout(later)
      state = 'closed'
      provider.destroy()
      socket.destroy()
    },
  }
}
