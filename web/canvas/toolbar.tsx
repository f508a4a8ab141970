/** The buttons of the canvas, and the keys for undo and redo. */
import { useEffect, type ReactNode } from 'react'
import { Panel } from '@xyflow/react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'
import { AddFiles } from '../files/add-files.tsx'

interface ToolbarProps {
  board: OpenBoard
  canEdit: boolean
  /** Adds a card at a place of the screen. */
  addCard(at: { x: number; y: number }): void
  addFiles(files: File[]): void
}

export function Toolbar({ board, canEdit, addCard, addFiles }: ToolbarProps): ReactNode {
  const { canUndo, canRedo } = useStore(board.history)
  useUndoKeys(board, canEdit)
  if (!canEdit) return null
  return (
    <Panel position="bottom-center">
      <div className="toolbar" role="toolbar" aria-label="Edit">
        <button
          type="button"
          className="main"
          onClick={() => addCard({ x: innerWidth / 2, y: innerHeight / 2 })}
        >
          Add card
        </button>
        <AddFiles take={addFiles} />
        <button type="button" disabled={!canUndo} onClick={board.undo}>
          Undo
        </button>
        <button type="button" disabled={!canRedo} onClick={board.redo}>
          Redo
        </button>
      </div>
    </Panel>
  )
}

/** Also in the fields of a card: the browser's own undo knows nothing of what others have typed. Other fields have their own. */
function useUndoKeys(board: OpenBoard, canEdit: boolean): void {
  useEffect(() => {
    if (!canEdit) return
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      // A text field that is bound to a card's text has done it.
      if (event.defaultPrevented) return
      const key = event.key.toLowerCase()
      if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== 'z' && key !== 'y')) return
      const field = event.target instanceof Element && event.target.closest('input, textarea, select')
      if (field && !field.closest('.react-flow__node')) return
      event.preventDefault()
      if (key === 'z' && !event.shiftKey) board.undo()
      else board.redo()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [board, canEdit])
}
