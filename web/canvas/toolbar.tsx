/** The buttons of the canvas, and the keys for undo and redo. */
import { useEffect, type ReactNode } from 'react'
import { Panel } from '@xyflow/react'
import type { OpenBoard } from '../board/board.ts'
import { useStore } from './use-store.ts'

interface ToolbarProps {
  board: OpenBoard
  canEdit: boolean
  /** Adds a card at a place of the screen. */
  addCard(at: { x: number; y: number }): void
}

export function Toolbar({ board, canEdit, addCard }: ToolbarProps): ReactNode {
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

/** Also in text fields: the browser's own undo knows nothing of what others have typed. */
function useUndoKeys(board: OpenBoard, canEdit: boolean): void {
  useEffect(() => {
    if (!canEdit) return
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const key = event.key.toLowerCase()
      if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== 'z' && key !== 'y')) return
      event.preventDefault()
      if (key === 'z' && !event.shiftKey) board.undo()
      else board.redo()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [board, canEdit])
}
