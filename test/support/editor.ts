/** Real editors: the stock Hocuspocus provider over a real socket. */
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import { WebSocket } from 'ws'
import * as Y from 'yjs'

export interface Editor {
  document: Y.Doc
  provider: HocuspocusProvider
  socket: HocuspocusProviderWebsocket
  cards: Y.Map<Y.Map<unknown>>
  groups: Y.Map<Y.Map<unknown>>
  /** Adds a card as a canvas app does. */
  addCard(id: string, fields?: Record<string, unknown>): Y.Map<unknown>
  /** Resolves when all edits are acknowledged. */
  saved(timeoutMs?: number): Promise<void>
  readonly closes: { code: number; reason: string }[]
  leave(): void
}

const open = new Set<Editor>()

/** The provider stops listening before it closes a socket. Closing one that is still connecting is an 'error'. */
export class TestSocket extends WebSocket {
  constructor(url: string) {
    super(url)
    this.on('error', () => undefined)
  }
}

/** Opens an editor. Resolves when it has loaded the board. */
export async function openEditor(
  serviceUrl: string,
  options: {
    boardId: string
    token: string
    /** Default: `/collab`. */
    path?: string
    document?: Y.Doc
    reconnect?: boolean
    /** Waits between attempts to connect as a stock provider does: a second at least. Default: much shorter. */
    stockDelays?: boolean
    expectRefusal?: boolean
    webSocket?: new (url: string) => WebSocket
    /** Called with each stateless message. */
    stateless?: (payload: string) => void
  },
): Promise<Editor> {
  const document = options.document ?? new Y.Doc()
  const closes: Editor['closes'] = []
  const socket = new HocuspocusProviderWebsocket({
    url: `${serviceUrl.replace('http', 'ws')}${options.path ?? '/collab'}`,
    WebSocketPolyfill: options.webSocket ?? TestSocket,
    ...(options.stockDelays ? {} : { delay: 50, minDelay: 50, maxDelay: 200, jitter: false }),
    maxAttempts: options.reconnect === false ? 1 : 0,
    onClose: ({ event }) => {
      closes.push({ code: event.code, reason: event.reason })
      if (options.reconnect === false) socket.shouldConnect = false
    },
  })
  let failed: string | null = null
  const provider = new HocuspocusProvider({
    websocketProvider: socket,
    name: options.boardId,
    token: options.token,
    document,
    onAuthenticationFailed: ({ reason }) => (failed = reason),
    onStateless: ({ payload }) => options.stateless?.(payload),
  })
  provider.attach()
  const cards = document.getMap<Y.Map<unknown>>('cards')
  const editor: Editor = {
    document,
    provider,
    socket,
    cards,
    groups: document.getMap<Y.Map<unknown>>('groups'),
    closes,
    addCard(id, fields = {}) {
      const card = new Y.Map<unknown>()
      document.transact(() => {
        cards.set(id, card)
        const { body = '', ...plain } = fields
        for (const [key, value] of Object.entries({
          kind: 'note',
          x: 0,
          y: 0,
          w: 280,
          h: 180,
          z: 1,
          ...plain,
        }))
          card.set(key, value)
        card.set('body', new Y.Text(String(body)))
      })
      return card
    },
    saved: (timeoutMs = 10_000) =>
      until(() => provider.unsyncedChanges === 0 && provider.isSynced, 'all edits acknowledged', timeoutMs),
    leave() {
      open.delete(editor)
      provider.destroy()
      socket.destroy()
    },
  }
  open.add(editor)
  if (options.expectRefusal) await until(() => failed !== null || closes.length > 0, 'the editor is refused')
  else
    await until(() => provider.isSynced || failed !== null, 'the editor is synced').catch((error: Error) => {
      throw new Error(`${error.message}; its socket was closed: ${JSON.stringify(closes)}`)
    })
  if (failed !== null && !options.expectRefusal) throw new Error(`the editor was refused: ${String(failed)}`)
  return editor
}

export function leaveAll(): void {
  for (const editor of open) editor.leave()
}

/** Waits for a condition. @param what names the condition in the error message */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not true after ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
