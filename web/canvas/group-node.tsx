/** The frame of a group: a box around its cards, or their outline. Its name is a handle for all of them. */
import { memo, type CSSProperties, type ReactNode } from 'react'
import type { NodeProps } from '@xyflow/react'
import { safeColor } from './card-node.tsx'
import type { Box } from './geometry.ts'
import type { GroupNode as Shown } from './nodes.ts'
import { useSurface } from './surface.ts'
import { membersOf } from './use-changes.ts'

export const GroupNode = memo(function GroupNode({ data: { group, members } }: NodeProps<Shown>): ReactNode {
  const { board, canEdit, select } = useSurface()
  const color = safeColor(group.color)
  const isHug = group.shape === 'hug'
  return (
    <section
      className={['box', isHug ? 'hug' : '', group.outline ? 'outlined' : ''].join(' ')}
      style={color === null ? {} : ({ '--tint': color } as CSSProperties)}
    >
      {isHug && <Outline members={members} />}
      <h3 className="group-name">
        {canEdit ? (
          <button
            type="button"
            title="Select its cards, or drag them"
            onClick={() => select(membersOf(board, group.id))}
          >
            {group.name}
          </button>
        ) : (
          group.name
        )}
      </h3>
    </section>
  )
})

const around = 14

/** All outlines first, and all areas above them: what is left of the outlines is around the whole. */
function Outline({ members }: { members: Box[] }): ReactNode {
  return (
    <svg aria-hidden="true">
      {['line', 'area'].map((layer) =>
        members.map(({ x, y, w, h }, at) => (
          <rect
            key={`${layer} ${at}`}
            className={layer}
            x={x - around}
            y={y - around}
            width={w + 2 * around}
            height={h + 2 * around}
            rx={around}
          />
        )),
      )}
    </svg>
  )
}
