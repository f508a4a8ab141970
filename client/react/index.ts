'use client'

/** Hooks for React. Each shows a part of an open board, and renders again when that part changes. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import {
  openBoard,
  type BoardOptions,
  type BoardStatus,
  type EditorCard,
  type EditorGroup,
  type OpenBoard,
  type Person,
  type Place,
  type Store,
  type TextField,
} from '../editor/index.ts'

export const useStore = <T>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get, store.get)

/** Opens a board while the component is there. Null until it has begun. Another `url` or `board` opens another one. */
export function useBoard(options: BoardOptions): OpenBoard | null {
  const [board, setBoard] = useState<OpenBoard | null>(null)
  const newest = useRef(options)
  newest.current = options
  useEffect(() => {
    const opened = openBoard(newest.current)
    setBoard(opened)
    return () => {
      setBoard(null)
      opened.close()
    }
  }, [options.url, options.board])
  return board
}

/** The cards, the lowest first. */
export const useCards = (board: OpenBoard): readonly EditorCard[] => useStore(board.cards)
export const useGroups = (board: OpenBoard): readonly EditorGroup[] => useStore(board.groups)
export const usePeople = (board: OpenBoard): readonly Person[] => useStore(board.people)
export const useDrags = (board: OpenBoard): ReadonlyMap<string, Place> => useStore(board.drags)
/** Whether the board is open, and whether all of it is saved. */
export const useSaveStatus = (board: OpenBoard): BoardStatus => useStore(board.status)

/** One card. The component renders again when this card changes, and not for others. */
export function useCard(board: OpenBoard, id: string): EditorCard | undefined {
  const get = () => board.cards.find(id)
  return useSyncExternalStore(board.cards.subscribe, get, get)
}

/** A `ref` for a `<textarea>` or `<input>` that edits the body of a card. Give the element no `value`. */
export function useBody(board: OpenBoard, id: string): (field: TextField | null) => void {
  const unbind = useRef(() => {})
  return useCallback(
    (field: TextField | null) => {
      unbind.current()
      unbind.current = field ? board.bind(id, field) : () => {}
    },
    [board, id],
  )
}

export function useUndo(
  board: OpenBoard,
): { canUndo: boolean; canRedo: boolean } & Pick<OpenBoard, 'undo' | 'redo'> {
  return { ...useStore(board.history), undo: board.undo, redo: board.redo }
}
