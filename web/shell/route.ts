/** The address of the page: `/app/`, or `/app/boards/{id}`. */
import { useSyncExternalStore } from 'react'

const moved = 'corkboard:moved'

export const addressOf = (boardId: string): string => `/app/boards/${boardId}`

export function go(boardId: string, how: 'push' | 'replace' = 'push'): void {
  history[`${how}State`](null, '', addressOf(boardId))
  dispatchEvent(new Event(moved))
}

/** The board that the address names. */
export const useBoardId = (): string | null => useSyncExternalStore(subscribe, boardId)

const boardId = () => /^\/app\/boards\/([\w-]+)$/.exec(location.pathname)?.[1]?.toLowerCase() ?? null

function subscribe(listener: () => void): () => void {
  for (const type of [moved, 'popstate']) addEventListener(type, listener)
  return () => {
    for (const type of [moved, 'popstate']) removeEventListener(type, listener)
  }
}
