/** What the panels of the app share: the lists of boards, ways to open things, and the notice at the lower edge. */
import { createContext, use, type MouseEvent, type ReactNode } from 'react'
import type { Places } from '../service/boards.ts'
import type { Notifications } from './use-notifications.ts'

export interface Notice {
  text: string
  isFault?: boolean
  undo?: () => Promise<unknown>
}

export type Panel = (shown: { close(): void }) => ReactNode

/** What the side of the page reads. */
export interface Shared {
  /** Null until they are read. */
  places: Places | null
  /** Reads the lists of boards again. */
  reload(): Promise<void>
  /** Null until the side is there. */
  notifications: Notifications | null
}

export interface Desk extends Shared {
  /** The board that is open. */
  boardId: string | null
  /** The boards that were opened last, the latest first. */
  recent: string[]
  addressOf(boardId: string): string
  open(boardId: string, cardId?: string): void
  /** The address of a workspace's settings. */
  settingsOf(workspaceId: string): string
  /** For a link to an address of the app. */
  follow(address: string): (event: MouseEvent) => void
  say(notice: Notice | null): void
  /** Shows a panel over the page, which is loaded now. */
  show(load: () => Promise<Panel>): void
}

export const DeskContext = createContext<Desk | null>(null)
/** Not on the page of a guest link, which has one board alone. */
export const useDesk = (): Desk => use(DeskContext)!

/** All boards, those that are shared with the account too. */
export const boardsOf = (places: Places | null) =>
  places === null ? [] : [...places.workspaces.flatMap(({ boards }) => boards), ...places.shared]
