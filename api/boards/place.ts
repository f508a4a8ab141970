/** Finds the workspaces in which boards are created, and checks that the caller may create them there. */
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import type { Entry } from './entry.ts'

interface Parent {
  id: string
  workspace_id: string
  deleted: boolean
}

export const noParent = (where = '') =>
  new ServiceError('not_found', `${where}parent_board_id: no such board.`)
export const parentInTrash = (where = '') =>
  new ServiceError('conflict', `${where}parent_board_id: that board is in the trash.`)
export const parentElsewhere = (where = '') =>
  new ServiceError('conflict', `${where}parent_board_id: that board is in another workspace.`)

/** Returns the workspace of each entry: the one it names, its parent's, or the caller's own. */
export async function placeEntries(tx: Transaction, entries: Entry[]): Promise<string[]> {
  const parents = await readParents(
    tx,
    entries.flatMap(({ columns }) => columns.parent_board_id ?? []),
  )
  const given = entries.flatMap(({ workspaceId }) => workspaceId ?? [])
  const named = [...new Set([...given, ...[...parents.values()].map((parent) => parent.workspace_id)])]
  const writable = await readWorkspaces(tx, named)
  let personal: string | undefined
  const places: string[] = []
  for (const { where, workspaceField, workspaceId, columns } of entries) {
    if (workspaceId !== undefined && !writable.has(workspaceId))
      throw new ServiceError('not_found', `${workspaceField}: no such workspace.`)
    let place = workspaceId
    if (columns.parent_board_id) {
      const parent = parents.get(columns.parent_board_id)
      if (!parent) throw noParent(where)
      if (parent.deleted) throw parentInTrash(where)
      if (place !== undefined && parent.workspace_id !== place) throw parentElsewhere(where)
      place = parent.workspace_id
    }
    if (place === undefined) personal ??= await personalWorkspace(tx)
    else if (!writable.get(place))
      throw new ServiceError(
        'forbidden',
        `${where}workspace_id: you may not create boards in that workspace.`,
      )
    places.push(place ?? personal!)
  }
  return places
}

async function readParents(tx: Transaction, ids: string[]): Promise<Map<string, Parent>> {
  if (ids.length === 0) return new Map()
  const rows = await tx<Parent[]>`
    select id, workspace_id, deleted_at is not null as deleted from boards where id = any (${[...new Set(ids)]}::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * The workspaces that the caller is a member of, with whether they may write there. The workspace of a shared board is
 * not included.
 */
async function readWorkspaces(tx: Transaction, ids: string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const rows = await tx<{ id: string; writable: boolean }[]>`
    select id, id in (select writable_workspaces(current_user_id())) as writable
    from workspaces
    where id = any (${ids}::uuid[])`
  return new Map(rows.map((row) => [row.id, row.writable]))
}

async function personalWorkspace(tx: Transaction): Promise<string> {
  const [personal] = await tx<{ id: string }[]>`select personal_workspace() as id`
  return personal!.id
}
