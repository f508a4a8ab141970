/** Who did what: writes by the API, and reads of files. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Failed, More } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { usePages } from '../controls/use-pages.ts'
import { When } from '../controls/when.tsx'
import { request } from '../service/request.ts'

type Entry = Row<'GET /audit'>

/** The first word of an action, as in `card.update`. */
const kinds = {
  '': 'Everything',
  board: 'Boards',
  card: 'Cards',
  'member share invitation link': 'Access',
  'image upload': 'Files',
  webhook: 'Webhooks',
  'service_account token session': 'Accounts and tokens',
} as const

const pageSize = 200
/** The audit lists all that the account may see. Pages are read until there are enough rows of this workspace. */
const enough = 50
const mostPages = 10

export function Audit({ workspaceId, isOwner }: { workspaceId: string; isOwner: boolean }): ReactNode {
  const [kind, setKind] = useState('')
  const isWanted = ({ workspace_id: workspace, action }: Entry) =>
    workspace === workspaceId && (kind === '' || kind.split(' ').includes(action.split('.')[0]!))
  const pages = usePages(`${workspaceId} ${kind}`, async (first) => {
    const rows: Entry[] = []
    let next = first ?? null
    for (let page = 1; page <= mostPages; page++) {
      const query = { limit: pageSize, ...(next === null ? {} : { cursor: next }) }
      const answer = await request('GET /audit', { query })
      rows.push(...answer.entries.filter(isWanted))
      next = answer.has_more ? answer.next_cursor : null
      if (next === null || rows.length >= enough) break
    }
    return { rows, next }
  })
  const { rows, fault, reload } = pages
  // Without the names the entries still say what was done.
  const names = useLoaded(workspaceId, () => readNames(workspaceId)).value
  return (
    <>
      <p>
        {isOwner
          ? 'What was written in this workspace by the API, and which files were read.'
          : 'What you have written in this workspace by the API. Its owner sees the entries of everybody.'}{' '}
        Edits on the canvas are in the history of each board.
      </p>
      <p className="field">
        <label htmlFor="audit-kind">Show</label>
        <select id="audit-kind" value={kind} onChange={({ target }) => setKind(target.value)}>
          {Object.entries(kinds).map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
      </p>
      {fault !== null && <Failed fault={fault} again={reload} />}
      {rows === null && fault === null && <p role="status">Loading…</p>}
      {rows?.length === 0 && (
        <p className="quiet">{pages.hasMore ? 'Nothing among the newest entries.' : 'Nothing yet.'}</p>
      )}
      {rows !== null && rows.length > 0 && <Table rows={rows} names={names} />}
      <More of={pages} label="Show older entries" />
    </>
  )
}

/** The names of the workspace's boards, by their ids. */
type Names = ReadonlyMap<string, string>

const deepest = 20

async function readNames(workspace: string): Promise<Names> {
  const { boards } = await request('GET /boards/tree', { query: { workspace, depth: deepest } })
  return new Map(boards.map(({ id, name }) => [id, name]))
}

const Table = ({ rows, names }: { rows: Entry[]; names: Names | null }): ReactNode => (
  // It scrolls sideways on a narrow screen, and so has to be reachable by the keyboard.
  <div className="table" role="region" aria-label="Audit" tabIndex={0}>
    <table>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">On</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((entry) => (
          <tr key={entry.id}>
            <td>
              <When at={entry.occurred_at} />
            </td>
            <td>
              {entry.actor.display_name ?? 'A deleted account'} <Way of={entry.actor} />
            </td>
            <td>
              <code>{entry.action}</code>{' '}
              {entry.status >= 400 && <span className="tag bad">{entry.status}</span>}
            </td>
            <td>
              <On entry={entry} names={names} />
            </td>
            <td>{entry.ip}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

function Way({ of }: { of: Entry['actor'] }): ReactNode {
  if (of.guest) return <span className="tag">Guest</span>
  if (of.service_account_id !== null) return <span className="tag agent">Service account</span>
  return (
    of.client_id !== null &&
    of.client_id !== 'corkboard-app' && <span className="tag agent">Application</span>
  )
}

function On({
  entry: { board_id: board, resource },
  names,
}: {
  entry: Entry
  names: Names | null
}): ReactNode {
  if (board !== null) return <a href={`/app/boards/${board}`}>{names?.get(board) ?? 'A board'}</a>
  return resource.type?.replaceAll('_', ' ')
}
