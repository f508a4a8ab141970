/** The boards that were opened last. The browser keeps them. */
import { useEffect, useState } from 'react'
import { stored } from '../boards/use-opened.ts'

const key = 'corkboard: recent boards'
const atMost = 8

/** @param boardId the board that is open. @returns the ids, the latest first */
export function useRecent(boardId: string | null): string[] {
  const [recent, setRecent] = useState(() => stored(key))
  useEffect(() => {
    if (boardId !== null)
      setRecent((before) => [boardId, ...before.filter((id) => id !== boardId)].slice(0, atMost))
  }, [boardId])
  useEffect(() => localStorage.setItem(key, JSON.stringify(recent)), [recent])
  return recent
}
