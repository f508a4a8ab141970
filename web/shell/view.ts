/**
 * Whether a board is shown as a canvas or as a list. The board says so, for everybody. A person may choose the other for
 * themselves: this device keeps it until somebody gives the board another view.
 */
import { useCallback, useEffect, useRef, useState } from 'react'
import { isRecord } from '../board/values.ts'
import type { Board } from '../service/boards.ts'

export type View = Board['view']

/** The board's view when it was last opened here, and the one that this person sees. */
interface Kept {
  board: View
  own: View
}

/** @param ofBoard the board's view. Undefined: not known yet */
export function useView(boardId: string, ofBoard: View | undefined): [View, (view: View) => void] {
  const [view, setView] = useState<View>(() => read()[boardId]?.own ?? 'canvas')
  const [hasChosen, setChosen] = useState(false)
  const isOpening = useRef(true)
  useEffect(() => {
    if (ofBoard === undefined || !isOpening.current) return
    // Later somebody may give the board another view. Then this page stays as it is.
    isOpening.current = false
    const own = hasChosen || read()[boardId]?.board === ofBoard ? view : ofBoard
    keep(boardId, { board: ofBoard, own })
    setView(own)
  }, [boardId, ofBoard, hasChosen, view])
  const show = useCallback(
    (chosen: View) => {
      setChosen(true)
      setView(chosen)
      if (ofBoard !== undefined) keep(boardId, { board: ofBoard, own: chosen })
    },
    [boardId, ofBoard],
  )
  return [view, show]
}

const key = 'corkboard: views'
const mostKept = 200

/** By the ids of boards, the latest last. */
function read(): Partial<Record<string, Kept>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '{}')
    return isRecord(kept) ? (kept as Record<string, Kept>) : {}
  } catch {
    return {} // kept by something else
  }
}

function keep(boardId: string, kept: Kept): void {
  const others = Object.entries(read()).filter(([id]) => id !== boardId)
  localStorage.setItem(key, JSON.stringify(Object.fromEntries([...others, [boardId, kept]].slice(-mostKept))))
}
