/** A board that a client sends to create it, or to update it by its identifier. */
import Type, { type Static } from 'typebox'
import { id, named, nullable } from '../http/vocabulary.ts'
import { acceptColumns, type BoardValues } from '../../core/board-columns.ts'
import { limits } from '../../core/limits.ts'
import { name, ownFields, requireProps, requireSchedule, trimmedName } from './fields.ts'

export const entryFields = {
  name,
  workspace_id: Type.Optional(
    id('Id of the workspace to create the board in. Without it: the workspace of the parent, else your own.'),
  ),
  parent_board_id: Type.Optional(nullable(id('Id of the board above it. Null for a top-level board.'))),
  view: Type.Optional(
    Type.Unknown({
      description: 'How clients show the board: `list`, or `canvas`, which any other value stands for.',
    }),
  ),
  ...ownFields,
}
export const entry = named('BoardInput', 'A board to create, or to update by its identifier.', entryFields)

export interface Entry {
  /** How messages name the entry: `boards[3].`, or empty. */
  where: string
  /** How messages name its workspace, which may be that of the whole batch. */
  workspaceField: string
  workspaceId?: string
  /** The columns that were sent, as they are stored. */
  columns: Partial<BoardValues> & { name: string }
  /** Whether nobody is notified of a change of the schedule. */
  quiet: boolean
}

/**
 * Reads an entry. The schedule is checked only as far as possible without the existing board.
 *
 * @throws ServiceError `bad_request`
 */
export function readEntry(
  given: Static<typeof entry>,
  options: { where?: string; workspaceId?: string; mayUpdate?: boolean } = {},
): Entry {
  const where = options.where ?? ''
  const workspaceId = given.workspace_id ?? options.workspaceId
  requireProps(given.props, where)
  const columns = { ...acceptColumns(given), name: trimmedName(given.name, limits.boardName, where) }
  // An update may use the existing board's date. The code that writes it checks the schedule again.
  if (!options.mayUpdate || columns.scheduled_date !== undefined)
    requireSchedule(columns.scheduled_date, columns.scheduled_end, where)
  return {
    where,
    workspaceField: given.workspace_id === undefined ? 'workspace_id' : `${where}workspace_id`,
    ...(workspaceId === undefined ? {} : { workspaceId: workspaceId.toLowerCase() }),
    columns,
    quiet: given.notify === false,
  }
}
