/** The fields in which a card is edited: one for each text that it shows. */
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { showText, type EditorCard as Card, type OpenBoard } from '../../client/editor/index.ts'
import { useBody } from '../../client/react/index.ts'
import { textOf } from '../board/values.ts'
import { kindName } from './kinds.ts'

interface FieldsProps {
  board: OpenBoard
  card: Card
}

/** A section has a title and a line below it, all others a title and a body. */
export function CardFields({ board, card }: FieldsProps): ReactNode {
  const isSection = card['section_header'] === true
  return (
    <>
      <Line {...{ board, card }} field="title" label="Title" />
      {isSection ? (
        <Line {...{ board, card }} field="sub" label="Line below the title" />
      ) : (
        <Body {...{ board, card }} />
      )}
    </>
  )
}

/** A text of one line is a value: it is written whole, with each key. */
function Line({
  board,
  card,
  field,
  label,
}: FieldsProps & { field: 'title' | 'sub'; label: string }): ReactNode {
  const input = useRef<HTMLInputElement>(null)
  const text = textOf(card[field]) ?? ''
  // Others may write it too. React would move the caret to the end.
  useLayoutEffect(() => showText(input.current!, text), [text])
  return (
    <input
      ref={input}
      aria-label={label}
      placeholder={label}
      maxLength={300}
      onInput={({ currentTarget: { value } }) =>
        board.cards.change(card.id, { [field]: value === '' ? null : value })
      }
    />
  )
}

/** It is bound to the shared text, so others see it while it is typed. */
function Body({ board, card }: FieldsProps): ReactNode {
  return (
    <textarea
      ref={useBody(board, card.id)}
      rows={6}
      aria-label={`Text of ${card.title ?? kindName(card.kind)}`}
      placeholder="Text, in Markdown"
      maxLength={20_000}
    />
  )
}
