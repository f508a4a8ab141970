/** A card on the canvas. */
import { memo, type CSSProperties, type ReactNode } from 'react'
import type { NodeProps } from '@xyflow/react'
import type { EditorCard as Card } from '../../client/editor/index.ts'
import { textOf } from '../board/values.ts'
import { Contents } from '../contents/contents.tsx'
import { isKnownKind } from '../contents/kinds.ts'
import { Later, part } from '../controls/later.tsx'
import { CardForm } from './card-form.tsx'
import type { CardNode as Shown } from './nodes.ts'
import { useSurface } from './surface.ts'

// The first look at a board does not need it.
const Handles = part(async () => (await import('./handles.tsx')).Handles)

export const CardNode = memo(function CardNode({ data }: NodeProps<Shown>): ReactNode {
  const { canEdit, canMove, editing, isFar, edit } = useSurface()
  const { card, rotation, hasHandles } = data
  const isEdited = editing === card.id && canEdit
  return (
    <>
      {canMove && hasHandles && !isEdited && (
        <Later>
          <Handles id={card.id} rotation={rotation} />
        </Later>
      )}
      <article
        className={classOf(card)}
        style={styleOf(card, rotation)}
        onDoubleClick={(event) => {
          event.stopPropagation()
          if (canEdit) edit(card.id)
        }}
      >
        {isEdited ? (
          <CardForm card={card} close={() => edit(null)} />
        ) : isFar ? null : (
          <Contents card={card} />
        )}
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
export const safeColor = (value: unknown): string | null => {
  const color = textOf(value)
  return color !== null && CSS.supports('color', color) ? color : null
}

function styleOf(card: Card, rotation: number): CSSProperties {
  const color = safeColor(card['color'])
  return {
    ...(color === null ? {} : { '--tint': color }),
    ...(rotation === 0 ? {} : { rotate: `${rotation}deg` }),
  }
}
