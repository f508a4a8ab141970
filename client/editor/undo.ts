/** Undo of what one editor did. Yjs keeps all that its steps have removed; here it is freed when no step needs it. */
import * as Y from 'yjs'
import { DerivedStore } from './store.ts'

const mostSteps = 200

type Steps = Y.UndoManager['undoStack']
type Removed = Steps[number]['deletions']

/** @param origin marks the transactions whose changes can be undone */
export function openUndo(document: Y.Doc, origin: unknown) {
  const roots = [document.getMap('cards'), document.getMap('groups')]
  const undo = new Y.UndoManager(roots, { trackedOrigins: new Set([origin]) })
  const history = new DerivedStore(() => ({ canUndo: undo.canUndo(), canRedo: undo.canRedo() }))
  for (const event of ['stack-item-added', 'stack-item-popped', 'stack-cleared'] as const)
    undo.on(event, () => history.changed())
  document.on('beforeTransaction', (transaction) => {
    if (transaction.origin === undo) cutAtCopies(transaction)
  })
  freeOld(document, undo)
  return { undo, history }
}

/**
 * Cuts items so that each one that was brought back has a copy of its own length. Yjs joins copies that lie side by
 * side, and finds a copy by its first letter alone: undo would then also take the letters after it, or leave them out.
 * Yjs joins them again after the transaction.
 */
function cutAtCopies(transaction: Y.Transaction): void {
  const { store } = transaction.doc
  const all = [...store.clients.values()]
  const count = () => all.reduce((sum, structs) => sum + structs.length, 0)
  for (let before = 0; before !== count();) {
    before = count()
    for (const item of all.flat()) {
      if (!(item instanceof Y.Item) || !item.redone) continue
      const { client, clock } = item.redone
      const copy = Y.getItemCleanStart(transaction, item.redone)
      if (copy.length > item.length)
        Y.getItemCleanEnd(transaction, store, Y.createID(client, clock + item.length - 1))
      else if (copy.length < item.length)
        Y.getItemCleanStart(transaction, Y.createID(item.id.client, item.id.clock + copy.length))
    }
  }
}

/**
 * Forgets the oldest steps, and frees what nothing can bring back any more: what forgotten steps have removed, what was
 * removed and brought back, and what undo has removed when it can't be redone. The last two were once written, and a step
 * from before may lead to them, since Yjs follows what was brought back from its first place. So they wait until
 * the steps from before are forgotten.
 */
function freeOld(document: Y.Doc, undo: Y.UndoManager): void {
  let forgotten = 0
  /** Each with how many steps have to be forgotten before it is freed. */
  let waiting: { removed: Removed; until: number }[] = []
  let redoSteps: Steps = undo.redoStack
  const wait = (removed: Removed) => waiting.push({ removed, until: forgotten + undo.undoStack.length })

  undo.on('stack-item-popped', ({ stackItem }: { stackItem: Steps[number] }) => wait(stackItem.deletions))
  undo.on('stack-cleared', () => {
    if (undo.redoStack === redoSteps) return
    for (const { deletions } of redoSteps) wait(deletions)
    redoSteps = undo.redoStack
  })
  document.on('afterAllTransactions', () => {
    const over = undo.undoStack.length - mostSteps
    if (over <= 0) return
    const old = undo.undoStack.splice(0, over).map(({ deletions }) => deletions)
    forgotten += over
    old.push(...waiting.filter(({ until }) => until <= forgotten).map(({ removed }) => removed))
    waiting = waiting.filter(({ until }) => until > forgotten)
    document.transact((transaction) => {
      for (const removed of old) {
        Y.iterateDeletedStructs(transaction, removed, (struct) => {
          if (struct instanceof Y.Item) struct.keep = false
        })
        Y.tryGc(removed, document.store, document.gcFilter)
      }
    })
  })
}
