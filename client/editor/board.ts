/** An open board: cards and groups, presence, undo, the save status, and text fields. */
import type { HocuspocusProvider } from '@hocuspocus/provider'
import * as Y from 'yjs'
import { bindText, type TextField } from './bind-text.ts'
import {
  openCards,
  openGroups,
  type Cards,
  type EditorGroup,
  type Entries,
  type GroupFields,
} from './canvas.ts'
import { Connection, type BoardStatus, type ConnectionOptions } from './connection.ts'
import { openPresence, type Presence } from './presence.ts'
import { until, type Store } from './store.ts'
import { openUndo } from './undo.ts'

/** Keeps a document on this device. `IndexeddbPersistence` of y-indexeddb is one. */
export interface OfflineStore {
  readonly whenSynced: Promise<unknown>
  destroy(): unknown
  /** Called when the service says that this account may not see the board. */
  clearData?(): unknown
  /** Gets a function to call when the store ends by itself, and keeps nothing any more. */
  onEnd?(listener: () => void): unknown
}

export interface BoardOptions extends ConnectionOptions {
  /** Keeps the board on this device: `(name, document) => new IndexeddbPersistence(name, document)`. */
  store?: (name: string, document: Y.Doc) => OfflineStore
}

export interface OpenBoard extends Presence {
  readonly document: Y.Doc
  readonly provider: HocuspocusProvider
  readonly cards: Cards
  readonly groups: Entries<EditorGroup, GroupFields & { name: string }>
  readonly status: Store<BoardStatus>
  /** Resolves when the board is here: from this device, or from the service. Rejects when it is refused. */
  readonly ready: Promise<void>
  /** Resolves as soon as everything is durable. */
  saved(signal?: AbortSignal): Promise<void>
  /** Binds a text field to the body of a card. @returns a function that ends the binding */
  bind(id: string, field: TextField): () => void
  /** Several writes at once: one change for others, and for undo. */
  transact(change: () => void): void
  /** What is written from now on is a step of undo of its own. Without it, writes within half a second are one step. */
  newStep(): void
  /** Undoes what this editor did, and nothing of others: the last 200 steps. */
  undo(): void
  redo(): void
  readonly history: Store<{ canUndo: boolean; canRedo: boolean }>
  /** Connects again when the status is `closed`, such as after a new sign-in. */
  reconnect(): void
  /** Closes the board. What is not saved is kept by the offline store alone. */
  close(): void
}

export function openBoard({ store, ...options }: BoardOptions): OpenBoard {
  const document = new Y.Doc()
  /** Marks what this editor writes, for undo. */
  const origin = { editor: options.board }
  const offline = store?.(`corkboard:${options.board}`, document)
  const connection = new Connection(document, options)
  const { provider, status } = connection
  const cards = openCards(document, origin)
  const groups = openGroups(document, origin)
  const transact = (change: () => void) => document.transact(change, origin)
  const presence = openPresence(provider, cards, transact)
  const { undo, history } = openUndo(document, origin)
  if (offline) keep(offline, connection, document)
  else connection.open()
  const ended = until(status, ({ loaded, connection }) => loaded || connection === 'closed')
  const ready = ended.then(({ loaded, reason }) => {
    if (!loaded) throw new Error(`The board could not be opened. ${reason?.advice ?? ''}`, { cause: reason })
  })
  // Who does not wait for it sees the same in the status.
  ready.catch(() => undefined)
  const board: OpenBoard = {
    ...presence.shown,
    document,
    provider,
    cards,
    groups,
    status,
    history,
    ready,
    saved: (signal) => saved(status, signal),
    bind: (id, field) => bindBody(cards, id, field, { origin, undo }),
    transact,
    newStep: () => undo.stopCapturing(),
    undo: () => void undo.undo(),
    redo: () => void undo.redo(),
    reconnect: () => connection.reconnect(),
    close() {
      undo.destroy()
      presence.close()
      connection.destroy()
      void offline?.destroy()
      document.destroy()
    },
  }
  return board
}

async function saved(status: Store<BoardStatus>, signal?: AbortSignal): Promise<void> {
  const ended = await until(
    status,
    ({ saved, connection, readOnly }) => saved || connection === 'closed' || readOnly,
    signal,
  )
  if (ended.saved) return
  const isClosed = ended.connection === 'closed'
  const why = isClosed ? (ended.reason?.advice ?? 'It was closed.') : 'It can only be read here.'
  throw new Error(`The board has changes that are not saved. ${why}`, { cause: ended.reason })
}

/** A store that does not answer for so long is not waited for. */
const readWithinMs = 5000

function keep(offline: OfflineStore, connection: Connection, document: Y.Doc): void {
  const { status } = connection
  let isOver = false
  const over = () => {
    isOver = true
    connection.notKept()
  }
  offline.onEnd?.(over)
  const read = offline.whenSynced.then(
    () => isOver || connection.keptHere({ hasBoard: document.store.clients.size > 0 }),
    // The board can be opened without a store, too.
    () => undefined,
  )
  // Read later, all of the store would be sent as one change, which may be larger than the service takes.
  const timer = setTimeout(() => connection.open(), readWithinMs)
  void read.then(() => {
    clearTimeout(timer)
    connection.open()
  })
  const end = status.subscribe(() => {
    if (status.get().reason?.name !== 'permission-denied') return
    end()
    over()
    void offline.clearData?.()
  })
}

/** Follows the card: when it is removed and comes back, as by undo, its text is another one. */
function bindBody(
  cards: Cards,
  id: string,
  field: TextField,
  binding: { origin: unknown; undo: Y.UndoManager },
): () => void {
  let bound: Y.Text | null = null
  let unbind = () => {}
  const follow = () => {
    const text = cards.text(id)
    if (text === bound) return
    unbind()
    unbind = text ? bindText(field, text, binding) : () => {}
    bound = text
  }
  follow()
  const unsubscribe = cards.subscribe(follow)
  return () => {
    unsubscribe()
    unbind()
  }
}
