/** The keys for undo and redo, on the canvas and in the list. */
import { useEffect } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'

/** Also in the fields of a card: the browser's own undo knows nothing of what others have typed. Other fields have their own. */
export function useUndoKeys(board: OpenBoard, canEdit: boolean): void {
  useEffect(() => {
    if (!canEdit) return
    const onKeyDown = (event: KeyboardEvent) => {
      // A text field that is bound to a card's text has done it.
      if (event.defaultPrevented) return
      const key = event.key.toLowerCase()
      if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== 'z' && key !== 'y')) return
      const field = event.target instanceof Element && event.target.closest('input, textarea, select')
      if (field && !field.closest('.react-flow__node, .entry')) return
      event.preventDefault()
      if (key === 'z' && !event.shiftKey) board.undo()
      else board.redo()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [board, canEdit])
}
