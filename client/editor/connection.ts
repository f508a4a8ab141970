/** The connection of a board: the stock provider, with new tokens, the save status, and reasons in words. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import type * as Y from 'yjs'
import { readToken, type TokenSource } from '../token.ts'
import { Acknowledgements, type SocketClass } from './acknowledgements.ts'
import { closeReason, refusalReason, type Reason } from './reasons.ts'
import { DerivedStore } from './store.ts'

export interface ConnectionOptions {
  /** The service's address, such as `https://boards.example.com`. */
  url: string
  /** The board's id. */
  board: string
  token: TokenSource
  /** Shows the board as it was: a time, a position of its history, or the id of a named version. It takes no changes. */
  asOf?: string
  /** Default: that of the runtime. Node has one from version 22; before that, give that of the package `ws`. */
  WebSocket?: SocketClass
  /** Called with messages of the service, such as notifications. docs/editors.md lists them. */
  onMessage?: (message: Message) => void
}

export type Message = { type: string } & Record<string, unknown>

export interface BoardStatus {
  /** `closed` ends with reconnect() alone. */
  connection: 'connecting' | 'open' | 'closed'
  /** Whether the document holds the board: from this device, or since the service has sent it. */
  loaded: boolean
  /** Whether everything in the document is acknowledged by the service, and so durable. */
  saved: boolean
  /** Whether an offline store keeps the document on this device. */
  kept: boolean
  /** Whether the service takes no changes of this account. */
  readOnly: boolean
  /** Whether the owner's storage of documents is full. */
  full: boolean
  /** Why the board is not open. */
  reason: Reason | null
}

const boardId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** A path that can be no board's is 404, which browsers do not show. Without it the service refuses the board in words. */
const pathOf = ({ board, asOf }: ConnectionOptions) =>
  (boardId.test(board) ? `/${board.toLowerCase()}` : '') +
  (asOf === undefined ? '' : `?as_of=${encodeURIComponent(asOf)}`)

/** How long to wait after `try-later`. */
const laterMs = 10_000
/** Most ms between two attempts to connect. They are spread at random, so that a crowd does not come back at once. */
const maxDelay = 8000

/** Browsers tell it when the network of the device comes back. Node does not. */
const runtime = globalThis as Partial<EventTarget>

export class Connection {
  readonly provider: HocuspocusProvider
  readonly status: DerivedStore<BoardStatus>
  readonly #socket: HocuspocusProviderWebsocket
  readonly #options: ConnectionOptions
  readonly #acknowledgements: Acknowledgements
  #state: BoardStatus['connection'] = 'connecting'
  #reason: Reason | null = null
  #isEnded = false
  #loaded = false
  #kept = false
  #full = false
  /** The service has refused the last token. */
  #refused = false
  /** The service has refused to open the board on this socket. */
  #isDenied = false
  #later: ReturnType<typeof setTimeout> | undefined

  /** @param path of the socket, after `/collab` */
  constructor(document: Y.Doc, options: ConnectionOptions, path = pathOf(options)) {
    const name = options.board.toLowerCase()
    this.#options = options
    this.status = new DerivedStore(() => this.#read())
    this.#acknowledgements = new Acknowledgements(name, () => this.status.changed())
    this.#socket = new HocuspocusProviderWebsocket({
      url: `${options.url.replace(/^http/, 'ws').replace(/\/+$/, '')}/collab${path}`,
      WebSocketPolyfill: this.#acknowledgements.counted(socketClass(options)),
      onClose: ({ event }) => this.#closed(event.code),
      maxDelay,
    })
    this.provider = new HocuspocusProvider({
      websocketProvider: this.#socket,
      name,
      document,
      token: () => readToken(options.token, this.#refused),
      onAuthenticated: () => {
        this.#refused = this.#isDenied = false
        this.#forgetClocks()
        this.status.changed()
      },
      onAuthenticationFailed: ({ reason }) => this.#denied(refusalReason(reason)),
      onSynced: () => {
        this.#loaded = true
        this.#become('open', null)
      },
      onStateless: ({ payload }) => this.#told(JSON.parse(payload) as Message),
    })
    this.#acknowledgements.watch(document, () => this.provider)
    runtime.addEventListener?.('online', this.#online)
  }

  /** Opens the board on the socket. Nothing of the document is sent before. */
  open(): void {
    if (!this.#isEnded) this.provider.attach()
  }

  /** Call it when the document has what this device has kept. @param hasBoard whether that is more than nothing */
  keptHere({ hasBoard }: { hasBoard: boolean }): void {
    this.#kept = true
    this.#loaded ||= hasBoard
    this.status.changed()
  }

  notKept(): void {
    this.#kept = false
    this.status.changed()
  }

  /** Connects again when it is closed, such as after a new sign-in. */
  reconnect(): void {
    if (this.#isEnded || this.#state !== 'closed') return
    this.#become('connecting', null)
    this.#isDenied = false
    this.#refused = typeof this.#options.token === 'function'
    // While its last socket is closing, the provider does not connect, but goes by this afterwards.
    this.#socket.shouldConnect = true
    void this.#socket.connect()
  }

  destroy(): void {
    clearTimeout(this.#later)
    runtime.removeEventListener?.('online', this.#online)
    this.#state = 'closed'
    this.#isEnded = true
    this.provider.destroy()
    this.#socket.destroy()
    this.status.changed()
  }

  /** The network of the device is back. The provider would wait until its next attempt is due. */
  readonly #online = (): void => {
    if (this.#state === 'connecting') void this.#socket.connect()
  }

  #read(): BoardStatus {
    return {
      connection: this.#state,
      loaded: this.#loaded,
      kept: this.#kept,
      saved: this.#acknowledgements.saved,
      readOnly: this.provider.authorizedScope === 'readonly',
      full: this.#full,
      reason: this.#reason,
    }
  }

  #become(state: BoardStatus['connection'], reason: Reason | null): void {
    this.#state = state
    this.#reason = reason
    if (state === 'closed') this.#socket.disconnect()
    this.status.changed()
  }

  #closed(code: number): void {
    if (this.#state === 'closed') return
    clearTimeout(this.#later)
    if (this.#isDenied) {
      // It comes back anyway. The code may be about what was sent behind the refused token.
      this.#isDenied = false
      this.#become('connecting', this.#reason)
      return
    }
    const reason = closeReason(code)
    const renews = reason.name === 'access-ended' && this.#canRenew()
    if (renews) this.#refused = true
    this.#become(reason.comesBack || renews ? 'connecting' : 'closed', reason)
  }

  #denied(reason: Reason): void {
    this.#isDenied = true
    if (reason.name === 'token-invalid' && this.#canRenew()) {
      this.#refused = true
      this.#comeBack()
    } else if (reason.comesBack) {
      this.#become('connecting', reason)
      this.#later = setTimeout(() => this.#comeBack(), laterMs)
    } else this.#become('closed', reason)
  }

  #told(message: Message): void {
    if (message.type === 'documents') this.#full = message['full'] === true
    this.status.changed()
    this.#options.onMessage?.(message)
  }

  /** A function may have another token. It is asked once. */
  #canRenew(): boolean {
    return typeof this.#options.token === 'function' && !this.#refused
  }

  /**
   * The service sends who is on the board now. The provider has removed the others when the connection was lost, and
   * would ignore a state whose clock it knows.
   */
  #forgetClocks(): void {
    const { awareness } = this.provider
    for (const client of awareness?.meta.keys() ?? [])
      if (client !== awareness!.clientID && !awareness!.states.has(client)) awareness!.meta.delete(client)
  }

  /** The provider connects again when its socket is closed. */
  #comeBack(): void {
    this.#socket.shouldConnect = true
    this.#socket.webSocket?.close()
  }
}

function socketClass({ WebSocket }: ConnectionOptions): SocketClass {
  const Socket = WebSocket ?? (globalThis.WebSocket as SocketClass | undefined)
  if (!Socket)
    throw new TypeError('This runtime has no WebSocket. Give one, such as that of the package `ws`.')
  return Socket
}
