/** Undo of what one editor did. Yjs keeps all that its steps have removed; here it is freed when no step needs it. */
import * as Y from 'yjs'
import { cutAtCopies, keepCopies, nameNeighbours } from './brought-back.ts'
import { DerivedStore } from './store.ts'

const mostSteps = 200

type Steps = Y.UndoManager['undoStack']
type Removed = Steps[number]['deletions']

/** @param origin marks the transactions whose changes can be undone */
export function openUndo(document: Y.Doc, origin: unknown) {
  const roots = [document.getMap('cards'), document.getMap('groups')]
  const undo = new Y.UndoManager(roots, { trackedOrigins: new Set([origin]) })
  const history = new DerivedStore(() => ({ canUndo: undo.canUndo(), canRedo: undo.canRedo() }))
  for (const event of ['stack-item-added', 'stack-cleared'] as const) undo.on(event, () => history.changed())
  const removed = freeOld(document, undo)
  /** The steps that Yjs makes with an undo or a redo. */
  const made = () => (undo.undoing ? undo.redoStack : undo.undoStack)
  let lent = 0
  document.on('beforeTransaction', (transaction) => {
    if (transaction.origin !== undo) return
    cutAtCopies(transaction)
    // Yjs brings a field back over a later value only where it finds the removal of that value in its steps.
    const steps = removed().map((deletions) => ({ deletions }) as Steps[number])
    lent = steps.length
    made().unshift(...steps)
  })
  document.on('afterTransaction', (transaction) => {
    if (transaction.origin !== undo) return
    made().splice(0, lent)
    nameNeighbours(transaction)
    history.changed() // also when nothing was left of the step
  })
  return { undo, history }
}

/**
 * Forgets the oldest steps, and frees what nothing can bring back any more: what forgotten steps have removed, what was
 * removed and brought back, and what undo has removed when it can't be redone. The last two were once written, and a step
 * from before may lead to them, since Yjs follows what was brought back from its first place. So they wait until
 * the steps from before are forgotten.
 *
 * @returns a function that returns what waits
 */
function freeOld(document: Y.Doc, undo: Y.UndoManager): () => Removed[] {
  let forgotten = 0
  /** Each with how many steps have to be forgotten before it is freed. */
  let waiting: { removed: Removed; until: number }[] = []
  let redoSteps: Steps = undo.redoStack
  const wait = (removed: Removed) => waiting.push({ removed, until: forgotten + undo.undoStack.length })

  undo.on('stack-item-popped', ({ stackItem }: { stackItem: Steps[number] }) => wait(stackItem.deletions))
  undo.on('stack-cleared', () => {
    if (undo.redoStack === redoSteps) return
    keepCopies(document)
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
  return () => waiting.map(({ removed }) => removed)
}
