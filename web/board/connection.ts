/** Connects a document with the service by the stock provider, and tells how it stands. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import type * as Y from 'yjs'
import { closeReason, refusalReason, type Reason } from './reasons.ts'
import { DerivedStore, type Store } from './store.ts'

export interface BoardStatus {
  connection: 'connecting' | 'open' | 'closed'
  /** Whether the service has acknowledged every change, so that all of them are durable. */
  saved: boolean
  /** Whether the service takes no changes of this account. */
  readOnly: boolean
  /** Whether the owner's storage of documents is used up. */
  full: boolean
  /** Whether the board has been open before. */
  wasOpen: boolean
  reason: Reason | null
}

export interface Connection {
  readonly provider: HocuspocusProvider
  readonly status: Store<BoardStatus>
  destroy(): void
}

/** How long to wait after `try-later`. */
const laterMs = 10_000

/**
 * @param url of the service
 * @param token an access token. Empty in a page of the service: then the session counts
 */
export function connect(
  document: Y.Doc,
  { url, board, token }: { url: string; board: string; token: string },
): Connection {
  let state: BoardStatus['connection'] = 'connecting'
  let reason: Reason | null = null
  let full = false
  let wasOpen = false
  let later: ReturnType<typeof setTimeout> | undefined
  const status = new DerivedStore((): BoardStatus => ({
    ...{ connection: state, full, wasOpen, reason },
    saved: provider.unsyncedChanges === 0,
    readOnly: provider.authorizedScope === 'readonly',
  }))
  const become = (next: BoardStatus['connection'], why: Reason | null) => {
    state = next
    reason = why
    if (next === 'closed') socket.disconnect()
    status.changed()
  }
  const socket = new HocuspocusProviderWebsocket({
    url: `${url.replace(/^http/, 'ws')}/collab/${board}`,
    onClose({ event }) {
      if (state === 'closed') return
      const why = closeReason(event.code)
      become(why.comesBack ? 'connecting' : 'closed', why)
    },
  })
  const provider = new HocuspocusProvider({
    ...{ websocketProvider: socket, name: board, document, token },
    onAuthenticated: () => status.changed(),
    onAuthenticationFailed(refused) {
      const why = refusalReason(refused.reason)
      become(why.comesBack ? 'connecting' : 'closed', why)
      // The provider connects again when its socket is closed.
      if (why.comesBack) later = setTimeout(() => socket.webSocket?.close(), laterMs)
    },
    onSynced() {
      wasOpen = true
      become('open', null)
    },
    onUnsyncedChanges: () => status.changed(),
    onStateless({ payload }) {
      const message = JSON.parse(payload) as { type?: string; full?: boolean }
      if (message.type === 'documents') full = message.full === true
      status.changed()
    },
  })
  provider.attach()
  return {
    provider,
    status,
    destroy() {
      clearTimeout(later)
      state = 'closed'
      provider.destroy()
      socket.destroy()
    },
  }
}
