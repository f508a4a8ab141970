/** What just happened, with a way to undo it. What went wrong stays until the person dismisses it. */
import { useEffect, type ReactNode } from 'react'
import type { Notice } from '../boards/desk.ts'

interface NoticeBarProps {
  notice: Notice | null
  say(notice: Notice | null): void
}

/** Whatever can be undone here, can be undone elsewhere afterwards. */
const shownMs = 20_000

export function NoticeBar({ notice, say }: NoticeBarProps): ReactNode {
  useEffect(() => {
    if (notice === null || notice.isFault) return
    const timer = setTimeout(() => say(null), shownMs)
    return () => clearTimeout(timer)
  }, [notice, say])
  return (
    // It is always there: screen readers read what changes in it.
    <div className="notice" role="status" data-fault={notice?.isFault}>
      {notice?.text}
      {notice?.undo && (
        <button type="button" onClick={() => void notice.undo?.()}>
          Undo
        </button>
      )}
      {notice && (
        <button type="button" className="plain" onClick={() => say(null)}>
          Dismiss
        </button>
      )}
    </div>
  )
}
