/** The address of the page: `/app/`, `/app/boards/{id}` with `?card={id}` to lead to a card, or `/app/workspaces/{id}/settings`. */
import { useSyncExternalStore, type MouseEvent } from 'react'

const moved = 'corkboard:moved'

/** Guest links lead here. Their token is in the fragment, which browsers send to no server. */
export const guestPath = '/app/open'

export const addressOf = (boardId: string, cardId?: string): string =>
  `/app/boards/${boardId}${cardId === undefined ? '' : `?card=${encodeURIComponent(cardId)}`}`

export function go(boardId: string, cardId?: string, how: 'push' | 'replace' = 'push'): void {
  visit += 1
  goTo(addressOf(boardId, cardId), how)
}

/** Asks before the page leads to another one within the app. */
let guard: { pathname: string; href: string; ask(): boolean } | null = null

/** @param ask whether this page may be left. @returns a function that ends it */
export function guardLeaving(ask: () => boolean): () => void {
  const { pathname, href } = location
  const mine = { pathname, href, ask }
  guard = mine
  return () => {
    if (guard === mine) guard = null
  }
}

const mayGoTo = (pathname: string): boolean => !guard || pathname === guard.pathname || guard.ask()

function goTo(address: string, how: 'push' | 'replace' = 'push'): void {
  if (!mayGoTo(new URL(address, location.href).pathname)) return
  history[`${how}State`](null, '', address)
  dispatchEvent(new Event(moved))
}

/** For a link to a page of the app: the page opens without loading the app again. */
export const follow =
  (path: string) =>
  (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return // a new tab or window
    event.preventDefault()
    goTo(path)
  }

/** The board that the address names. */
export const useBoardId = (): string | null => useSyncExternalStore(subscribe, boardId)

/** Counts the visits, so that a card is shown again when it is asked for again. */
let visit = 0

/** The card that the address names, and the visit: `{visit} {cardId}`. */
export const useCardGoal = (): string | null => useSyncExternalStore(subscribe, cardGoal)

/** The workspace whose settings the address names. */
export const useSettingsId = (): string | null => useSyncExternalStore(subscribe, settingsId)

export const settingsOf = (workspaceId: string): string => `/app/workspaces/${workspaceId}/settings`

const settingsId = () =>
  /^\/app\/workspaces\/([\w-]+)\/settings$/.exec(location.pathname)?.[1]?.toLowerCase() ?? null

const boardId = () => /^\/app\/boards\/([\w-]+)$/.exec(location.pathname)?.[1]?.toLowerCase() ?? null
const cardGoal = () => {
  const cardId = new URLSearchParams(location.search).get('card')
  return cardId === null ? null : `${visit} ${cardId}`
}

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    addEventListener(moved, tellAll)
    addEventListener('popstate', tellUnlessGuarded)
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const tellAll = () => listeners.forEach((listener) => listener())

/** Back and Forward have left the page already. Whoever stays comes back. */
function tellUnlessGuarded(): void {
  if (mayGoTo(location.pathname)) tellAll()
  else history.pushState(null, '', guard!.href)
}
