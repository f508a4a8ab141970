/** The buttons of the canvas. */
import type { ReactNode } from 'react'
import { Panel } from '@xyflow/react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { useStore } from '../../client/react/index.ts'
import { useUndoKeys } from '../board/undo-keys.ts'
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
