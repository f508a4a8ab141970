/** The form in which a card is edited. */
import { useEffect, useRef, type FocusEvent, type KeyboardEvent, type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { CardFields } from '../contents/card-fields.tsx'
import { useSurface } from './surface.ts'

export function CardForm({ card, close }: { card: Card; close(): void }): ReactNode {
  const { board } = useSurface()
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const within = form.current!
    const field = within.querySelector('textarea') ?? within.querySelector('input')!
    field.focus({ preventScroll: true })
    field.setSelectionRange(field.value.length, field.value.length)
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys like Delete and the arrows are for the text, and not for the card.
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation()
    if (event.key !== 'Escape') return
    form.current!.closest<HTMLElement>('.react-flow__node')?.focus()
    close()
  }
  const onBlur = (event: FocusEvent) => {
    if (!form.current!.contains(event.relatedTarget) && document.hasFocus()) close()
  }
  return (
    <div ref={form} className="form nodrag nowheel nopan" onKeyDown={onKeyDown} onBlur={onBlur}>
      <CardFields board={board} card={card} />
    </div>
  )
}
