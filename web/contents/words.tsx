/** The text of a card: formatted, or in Markdown. */
import { useEffect, useState, type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { textOf } from '../board/values.ts'
import { Markdown } from './markdown.tsx'

export function Words({ card }: { card: Card }): ReactNode {
  const html = useSafeHtml(textOf(card['html']))
  if (html !== null) return <div className="words" dangerouslySetInnerHTML={{ __html: html }} />
  if (card.body === '') return null
  return (
    <div className="words">
      <Markdown text={card.body} />
    </div>
  )
}

/** The sanitizer is loaded with the first card that has HTML. @returns null until then, and for a card without HTML */
function useSafeHtml(html: string | null): string | null {
  const [safe, setSafe] = useState<string | null>(null)
  useEffect(() => {
    if (html === null) return setSafe(null)
    let isCurrent = true
    const show = async () => {
      const { safeHtml } = await import('./safe-html.ts')
      if (isCurrent) setSafe(safeHtml(html))
    }
    // Without the sanitizer the card shows its plain text.
    show().catch(() => setSafe(null))
    return () => {
      isCurrent = false
    }
  }, [html])
  return safe
}
