/** A card on the canvas, and the form in which it is edited. */
import {
  memo,
  useCallback,
  useEffect,
  useRef,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react'
import { NodeResizer, type NodeProps } from '@xyflow/react'
import { textOf, type Card } from '../board/cards.ts'
import { Contents } from './contents.tsx'
import { isKnownKind, kindName, type CardNode as Shown, type GroupNode } from './nodes.ts'
import { useSurface } from './surface.ts'

const side = { min: 40, max: 4000 }

export const CardNode = memo(function CardNode({ data: { card }, selected }: NodeProps<Shown>): ReactNode {
  const { canEdit, editing, edit } = useSurface()
  const isEdited = editing === card.id && canEdit
  return (
    <>
      {canEdit && (
        <NodeResizer
          isVisible={selected === true && !isEdited}
          {...{ minWidth: side.min, minHeight: side.min, maxWidth: side.max, maxHeight: side.max }}
        />
      )}
      <article
        className={classOf(card)}
        style={styleOf(card)}
        onDoubleClick={(event) => {
          event.stopPropagation()
          if (canEdit) edit(card.id)
        }}
      >
        {isEdited ? <Form card={card} close={() => edit(null)} /> : <Contents card={card} />}
      </article>
    </>
  )
})

const classOf = (card: Card) =>
  [
    'card',
    isKnownKind(card.kind) ? card.kind : 'foreign',
    ...(card['section_header'] === true ? ['section'] : []),
  ].join(' ')

/** Colours come from editors, and can be anything. */
const colorOf = (value: unknown): string | null => {
  const color = textOf(value)
  return color !== null && CSS.supports('color', color) ? color : null
}

function styleOf(card: Card): CSSProperties {
  const color = colorOf(card['color'])
  return {
    ...(color === null ? {} : { '--tint': color }),
    ...(card.rotation === 0 ? {} : { rotate: `${card.rotation}deg` }),
  }
}

/** Title and body. The body is bound to the shared text, so others see it while it is typed. */
function Form({ card, close }: { card: Card; close(): void }): ReactNode {
  const { board } = useSurface()
  const { id } = card
  const form = useRef<HTMLDivElement>(null)
  const unbind = useRef(() => {})
  const bind = useCallback(
    (field: HTMLTextAreaElement | null) => {
      unbind.current()
      unbind.current = field ? board.bind(id, field) : () => {}
    },
    [board, id],
  )
  useEffect(() => {
    const field = form.current!.querySelector('textarea')!
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
  const onBlur = (event: React.FocusEvent) => {
    if (!form.current!.contains(event.relatedTarget) && document.hasFocus()) close()
  }
  return (
    <div ref={form} className="form nodrag nowheel nopan" onKeyDown={onKeyDown} onBlur={onBlur}>
      <input
        aria-label="Title"
        placeholder="Title"
        maxLength={300}
        value={card.title ?? ''}
        onChange={({ target }) =>
          board.cards.change(id, { title: target.value === '' ? null : target.value })
        }
      />
      <textarea
        ref={bind}
        aria-label={`Text of ${card.title ?? kindName(card.kind)}`}
        placeholder="Text, in Markdown"
        maxLength={20_000}
      />
    </div>
  )
}

export const BoxNode = memo(function BoxNode({ data: { group } }: NodeProps<GroupNode>): ReactNode {
  const color = colorOf(group.color)
  return (
    <section
      className={group.outline ? 'box outlined' : 'box'}
      style={color === null ? {} : ({ '--tint': color } as CSSProperties)}
    >
      <h3>{group.name}</h3>
    </section>
  )
})
