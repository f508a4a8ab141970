/** What the account's workspaces take, and how much they may. */
import type { ReactNode } from 'react'
import { bytesText } from '../controls/bytes.ts'
import { Shown } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { request } from '../service/request.ts'

export function Storage(): ReactNode {
  const me = useLoaded('me', () => request('GET /me'))
  return (
    <Shown of={me}>
      {({ storage, documents, tier }) => (
        <>
          <p>
            These figures are for all workspaces that you own, together. Your plan is <strong>{tier}</strong>.
          </p>
          <Used title="Files" {...storage}>
            Pictures and other files on boards. A file that no card names any more is removed after 30 days.
          </Used>
          <Used title="Boards" {...documents}>
            What is on the boards, recent changes, removed cards that can be restored, and{' '}
            {bytesText(documents.history)} of history. Boards in the trash count until they are removed after
            30 days.
          </Used>
        </>
      )}
    </Shown>
  )
}

interface UsedProps {
  title: string
  used: number
  limit: number
  children: ReactNode
}

const nearlyFull = 0.9

function Used({ title, used, limit, children }: UsedProps): ReactNode {
  return (
    <section className="used">
      <h3>{title}</h3>
      <meter aria-label={title} min={0} max={limit} high={limit * nearlyFull} value={used} />
      <p>
        <strong>{bytesText(used)}</strong> of {bytesText(limit)}
        {used >= limit && '. It is full: what adds to boards is refused. Delete cards, files or boards'}
      </p>
      <p className="quiet">{children}</p>
    </section>
  )
}
