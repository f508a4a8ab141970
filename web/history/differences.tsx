/** What differs between two moments of a board. */
import type { ReactNode } from 'react'
import { count } from '../controls/count.ts'
import { Shown } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { request } from '../service/request.ts'
import { fieldsText, type Difference } from './changes.ts'
import { Step } from './step.tsx'

interface DifferencesProps {
  boardId: string
  title: string
  from: string
  /** Without it: now. */
  to?: string
  titleOf(id: string): string
  back(): void
}

const mostShown = 200

export function Differences({ boardId, title, from, to, titleOf, back }: DifferencesProps): ReactNode {
  const diff = useLoaded(`${from} ${to}`, () =>
    request('GET /boards/{id}/diff', {
      path: { id: boardId },
      query: { from, limit: mostShown, ...(to === undefined ? {} : { to }) },
    }),
  )
  return (
    <Step title={title} back={back}>
      <Shown of={diff}>
        {({ cards, groups, total }) => (
          <>
            {total + groups.length === 0 && <p>Nothing differs.</p>}
            <ul className="rows" aria-label="What differs">
              {cards.map((card) => (
                <li key={card.id}>
                  <Changed what={titleOf(card.id)} difference={card} />
                </li>
              ))}
              {groups.map((group) => (
                <li key={group.id}>
                  <Changed what="Group" difference={group} />
                </li>
              ))}
            </ul>
            {total > cards.length && <p className="quiet">And {count(total - cards.length, 'card')} more.</p>}
          </>
        )}
      </Shown>
    </Step>
  )
}

/** What became of one card or group. @param what it is called when the change does not tell its name */
export function Changed({
  what,
  difference: { change, fields },
}: {
  what: string
  difference: Difference
}): ReactNode {
  const name = fields.find(({ field }) => field === 'title' || field === 'name')
  const known = change === 'changed' ? null : (name?.after ?? name?.before)
  const texts = change === 'changed' ? fields.filter(({ diff }) => diff) : []
  return (
    <div className="change">
      <strong>{typeof known === 'string' && known !== '' ? known : what}</strong>{' '}
      <span className="quiet">
        {change === 'changed' ? fieldsText(fields.map(({ field }) => field)) : change}
      </span>
      {texts.map(({ field, diff = [] }) => (
        <p key={field} className="pieces">
          {diff.map(({ op, text }, at) => (
            <Piece key={at} {...{ op, text }} />
          ))}
        </p>
      ))}
    </div>
  )
}

const longestKept = 60

/** Of what stays, only what is beside a change is shown. */
function Piece({ op, text }: { op: 'kept' | 'removed' | 'added'; text: string }): ReactNode {
  if (op === 'added') return <ins>{text}</ins>
  if (op === 'removed') return <del>{text}</del>
  const half = longestKept / 2
  return text.length > longestKept ? `${text.slice(0, half)} … ${text.slice(-half)}` : text
}
