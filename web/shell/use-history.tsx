/** The history of an open board: its button, its panel, the panel of one card, and the moment that the canvas shows. */
import { useCallback, useRef, useState, type ReactNode } from 'react'
import type { OpenBoard } from '../../client/editor/index.ts'
import { Later, part } from '../controls/later.tsx'

const HistoryPanel = part(async () => (await import('../history/history-panel.tsx')).default)
const CardHistory = part(async () => (await import('../history/card-history.tsx')).default)

export interface BoardHistory {
  button: ReactNode
  /** A past moment. Null: the canvas shows the board as it is. */
  past: OpenBoard | null
  panel(live: OpenBoard, canWrite: boolean): ReactNode
  /** Shows the history of a card in place of the board's. */
  showCard(cardId: string): void
}

type Opened = { of: 'board' } | { of: 'card'; cardId: string } | null

/** @param openAt opens the board as it was */
export function useHistory(boardId: string, openAt: (asOf: string) => OpenBoard): BoardHistory {
  const [opened, open] = useState<Opened>(null)
  const [past, show] = useState<OpenBoard | null>(null)
  /** What had the focus before. */
  const opener = useRef<HTMLElement | null>(null)
  const openFrom = useCallback((of: Opened) => {
    opener.current = document.activeElement as HTMLElement | null
    open(of)
  }, [])
  const close = useCallback(() => {
    open(null)
    opener.current?.focus()
  }, [])
  return {
    button: (
      <button
        type="button"
        aria-expanded={opened?.of === 'board'}
        onClick={() => (opened?.of === 'board' ? close() : openFrom({ of: 'board' }))}
      >
        History
      </button>
    ),
    past,
    panel: (live, canWrite) =>
      opened && (
        <Later>
          {opened.of === 'board' ? (
            <HistoryPanel {...{ boardId, live, openAt, canWrite, show, close }} />
          ) : (
            <CardHistory key={opened.cardId} {...{ boardId, canWrite, close }} cardId={opened.cardId} />
          )}
        </Later>
      ),
    showCard: useCallback((cardId: string) => openFrom({ of: 'card', cardId }), [openFrom]),
  }
}
