/** Gives the board the view that this person sees, so that others find it like this. For those who may change the board. */
import { useRef, type ReactNode } from 'react'
import { useDesk } from '../boards/desk.ts'
import { changeBoard, type Board } from '../service/boards.ts'
import type { View } from './view.ts'

interface ViewForAllProps {
  row: Board
  changed(row: Board): void
  /** What this person sees. */
  view: View
}

export function ViewForAll({ row, changed, view }: ViewForAllProps): ReactNode {
  const { say } = useDesk()
  const button = useRef<HTMLButtonElement>(null)
  if (row.view === view) return null
  const set = async (to: View, from?: View) => {
    try {
      const after = await changeBoard(row.id, { view: to })
      // The button goes.
      if (document.activeElement === button.current)
        document.querySelector<HTMLElement>('.view-switch')?.focus()
      changed(after)
      say({
        text: `“${after.name}” opens as a ${to} for everybody now.`,
        ...(from && { undo: () => set(from) }),
      })
    } catch (error) {
      say({ text: (error as Error).message, isFault: true })
    }
  }
  return (
    <button ref={button} type="button" className="plain" onClick={() => void set(view, row.view)}>
      {view === 'list' ? 'List' : 'Canvas'} for all
    </button>
  )
}
