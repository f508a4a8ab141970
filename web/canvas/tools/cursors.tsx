/** The cursors of others, with their names. */
import { useStore as useFlow, ViewportPortal } from '@xyflow/react'
import type { ReactNode } from 'react'
import { usePeople } from '../../../client/react/index.ts'
import { nameOf, whoIs } from '../../board/people.ts'
import { placeOf } from '../../board/values.ts'
import { colorOf } from '../person-color.ts'
import { useSurface } from '../surface.ts'

export function Cursors(): ReactNode {
  const { board } = useSurface()
  const zoom = useFlow(({ transform }) => transform[2])
  const others = usePeople(board).filter(({ isMe }) => !isMe)
  return (
    <ViewportPortal>
      {others.map((person) => {
        const cursor = placeOf(person.state['cursor'])
        return (
          cursor && (
            <div
              key={person.clientId}
              className="cursor"
              aria-hidden="true"
              style={{
                transform: `translate(${cursor.x}px, ${cursor.y}px) scale(${1 / zoom})`,
                ...{ '--person': colorOf(whoIs(person)) },
              }}
            >
              <svg width="18" height="20" viewBox="0 0 18 20">
                <path d="M1 1 L1 15 L5.4 11.6 L8.4 18.5 L11.4 17.2 L8.4 10.4 L14 9.8 Z" />
              </svg>
              <span>
                {nameOf(person)}
                {person.agent ? ' (agent)' : ''}
              </span>
            </div>
          )
        )
      })}
    </ViewportPortal>
  )
}
