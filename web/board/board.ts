/** An open board: its cards and groups, who is here, undo, and whether everything is saved. */
import * as Y from 'yjs'
import { bindText, type TextField } from './bind-text.ts'
import { openCards, openGroups, type Cards, type Entries, type Group } from './cards.ts'
import { connect, type BoardStatus } from './connection.ts'
import { openPresence, type Presence } from './presence.ts'
import { DerivedStore, type Store } from './store.ts'

export interface BoardOptions {
  /** The service's address, without a slash at the end. */
  url: string
  /** The board's id. */
  board: string
  /** An access token. Empty in a page of the service: then the session counts. */
  token: string
}

export interface OpenBoard extends Presence {
  readonly cards: Cards
  readonly groups: Entries<Group>
  readonly status: Store<BoardStatus>
  readonly history: Store<{ canUndo: boolean; canRedo: boolean }>
  /** Binds a text field to the body of a card. @returns a function that ends the binding */
  bind(id: string, field: TextField): () => void
  /** Several writes at once: one change for others, and one step of undo. */
  transact(change: () => void): void
  /** Takes back what this window did, and nothing of others. */
  undo(): void
  redo(): void
  close(): void
}

export function openBoard(options: BoardOptions): OpenBoard {
  const document = new Y.Doc()
  /** Marks what this window writes. */
  const origin = { window: options.board }
  const { provider, status, destroy } = connect(document, options)
  const cards = openCards(document, origin)
  const roots = [document.getMap('cards'), document.getMap('groups')]
  const manager = new Y.UndoManager(roots, { trackedOrigins: new Set([origin]) })
  const history = new DerivedStore(() => ({ canUndo: manager.canUndo(), canRedo: manager.canRedo() }))
  for (const event of ['stack-item-added', 'stack-item-popped', 'stack-cleared'] as const)
    manager.on(event, () => history.changed())
  return {
    ...openPresence(provider),
    ...{ cards, status, history },
    groups: openGroups(document),
    bind(id, field) {
      const text = cards.text(id)
      return text ? bindText(field, text, origin) : () => {}
    },
    transact(change) {
      manager.stopCapturing()
      document.transact(change, origin)
    },
    undo: () => void manager.undo(),
    redo: () => void manager.redo(),
    close() {
      manager.destroy()
      destroy()
      document.destroy()
    },
  }
}
