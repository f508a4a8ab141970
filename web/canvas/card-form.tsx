/** The form in which a card is edited. */
import { useEffect, useRef, type FocusEvent, type KeyboardEvent, type ReactNode } from 'react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { useBody } from '../../client/react/index.ts'
import { textOf } from '../board/values.ts'
import { kindName } from '../contents/kinds.ts'
import { useSurface } from './surface.ts'

/** The title, and the body or the line below a heading. */
export function CardForm({ card, close }: { card: Card; close(): void }): ReactNode {
  const form = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const field = form.current!.querySelector<HTMLTextAreaElement | HTMLInputElement>('.first')!
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
      {card['section_header'] === true ? (
        <>
          <Line card={card} field="title" label="Title" className="first" />
          <Line card={card} field="sub" label="Line below the title" />
        </>
      ) : (
        <>
          <Line card={card} field="title" label="Title" />
          <Body card={card} />
        </>
      )}
    </div>
  )
}

interface LineProps {
  card: Card
  field: 'title' | 'sub'
  label: string
  className?: string
}

function Line({ card, field, label, className }: LineProps): ReactNode {
  const { board } = useSurface()
  return (
    <input
      className={className}
      aria-label={label}
      placeholder={label}
      maxLength={300}
      value={textOf(card[field]) ?? ''}
      onChange={({ target }) => {
        board.cards.change(card.id, { [field]: target.value === '' ? null : target.value })
      }}
    />
  )
}

/** It is bound to the shared text, so others see it while it is typed. */
function Body({ card }: { card: Card }): ReactNode {
  const { board } = useSurface()
  return (
    <textarea
      ref={useBody(board, card.id)}
      className="first"
      aria-label={`Text of ${card.title ?? kindName(card.kind)}`}
      placeholder="Text, in Markdown"
      maxLength={20_000}
    />
  )
}
