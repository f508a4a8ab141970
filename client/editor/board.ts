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
import { DerivedStore, until, type Store } from './store.ts'

/** Keeps a document on this device. `IndexeddbPersistence` of y-indexeddb is one. */
export interface OfflineStore {
  readonly whenSynced: Promise<unknown>
  destroy(): unknown
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
  /** Undoes what this editor did, and nothing of others. */
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
  const opened = until(status, ({ connection }) => connection !== 'connecting').then(({ reason }) => {
    if (reason) throw new Error(`The board could not be opened. ${reason.advice}`, { cause: reason })
  })
  const ready = Promise.race([opened, ...(offline ? [offline.whenSynced] : [])]).then(() => undefined)
  // Who does not wait for it sees the same in the status.
  ready.catch(() => undefined)
  const board: OpenBoard = {
    ...presence,
    document,
    provider,
    cards,
    groups,
    status,
    history,
    ready,
    saved: async (signal) => void (await until(status, ({ saved }) => saved, signal)),
    bind: (id, field) => bindBody(cards, id, field, { origin, undo }),
    transact,
    undo: () => void undo.undo(),
    redo: () => void undo.redo(),
    reconnect: () => connection.reconnect(),
    close() {
      undo.destroy()
      connection.destroy()
      void offline?.destroy()
      document.destroy()
    },
  }
  return board
}

function openUndo(document: Y.Doc, origin: unknown) {
  const roots = [document.getMap('cards'), document.getMap('groups')]
  const undo = new Y.UndoManager(roots, { trackedOrigins: new Set([origin]) })
  const history = new DerivedStore(() => ({ canUndo: undo.canUndo(), canRedo: undo.canRedo() }))
  for (const event of ['stack-item-added', 'stack-item-popped', 'stack-cleared'] as const)
    undo.on(event, () => history.changed())
  return { undo, history }
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
