import Type from 'typebox'
import { noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { route } from '../route.ts'
import { nullable, timestamp, uuid } from '../schemas.ts'

const query = Type.Object({
  root: Type.Optional(uuid),
  workspace: Type.Optional(uuid),
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.treeDepth.max,
      default: limits.treeDepth.default,
      description: 'Levels below the root, or below the top-level boards of the workspace.',
    }),
  ),
  deleted: Type.Optional(Type.Enum(['1', '0'], { description: '`1` adds the trash.' })),
})

const treeBoard = Type.Object({
  id: uuid,
  parent_board_id: nullable(uuid),
  name: Type.String(),
  depth: Type.Integer(),
  card_count: Type.Integer(),
  updated_at: nullable(timestamp),
  deleted: Type.Boolean(),
})

interface TreeRow {
  id: string
  parent_board_id: string | null
  name: string
  depth: number
  card_count: number
  updated_at: Date
  deleted: boolean
}

export const readTree = route({
  method: 'GET',
  path: '/boards/tree',
  scope: 'read',
  summary:
    'Read the tree below a board, or of a workspace: parents before children, siblings as they were made.',
  schemas: { query },
  answers: {
    200: Type.Object({ root: nullable(uuid), count: Type.Integer(), boards: Type.Array(treeBoard) }),
  },
  async handle({ database }, { principal, query }) {
    const { root, workspace, depth = limits.treeDepth.default } = query
    if ((root === undefined) === (workspace === undefined))
      throw new ServiceError('bad_request', 'Exactly one of root and workspace is required.')
    const rows = await database.asUser(principal.userId, async (tx) => {
      const rows = await readRows(tx, { root, workspace, depth, withTrash: query.deleted === '1' })
      if (rows.length > 0) return rows
      if (root !== undefined) throw noBoard()
      // Nobody who sees a board of the workspace comes here, but perhaps somebody who sees only its trash.
      const [seen] = await tx<{ seen: boolean }[]>`
        select exists (select from workspaces where id = ${workspace!})
          or exists (select from boards where workspace_id = ${workspace!}) as seen`
      if (!seen?.seen) throw new ServiceError('not_found', 'No such workspace.')
      return rows
    })
    if (rows.length > limits.treeBoards) {
      throw new ServiceError(
        'bad_request',
        `The tree has more than ${limits.treeBoards} boards. Take a root further down, or a smaller depth.`,
      )
    }
    const boards = rows.map((row) => ({ ...row, updated_at: row.updated_at.toISOString() }))
    return { body: { root: root?.toLowerCase() ?? null, count: boards.length, boards } }
  },
})

/**
 * Level by level, each board once. A board lies below its parent when that is live, or both are in the trash; else it
 * is at top level, as in a list.
 */
function readRows(
  tx: Transaction,
  tree: { root: string | undefined; workspace: string | undefined; depth: number; withTrash: boolean },
): Promise<TreeRow[]> {
  const listed = tree.withTrash ? tx`` : tx`and b.deleted_at is null`
  return tx<TreeRow[]>`
    with recursive tree as (
      select b.id, p.id as parent_board_id, b.name, 0 as depth, b.created_at, b.updated_at, b.deleted_at is not null as deleted
      from boards b
      left join boards p on p.id = b.parent_board_id and (p.deleted_at is null or b.deleted_at is not null)
      where ${tree.root === undefined ? tx`b.workspace_id = ${tree.workspace!} and p.id is null ${listed}` : tx`b.id = ${tree.root}`}
      union all
      select b.id, t.id, b.name, t.depth + 1, b.created_at, b.updated_at, b.deleted_at is not null
      from tree t
      join boards b on b.parent_board_id = t.id
      where t.depth < ${tree.depth} and (not t.deleted or b.deleted_at is not null) ${listed}
    )
    select t.id, t.parent_board_id, t.name, t.depth, d.card_count, t.updated_at, t.deleted
    from tree t
    join board_documents d on d.board_id = t.id
    order by t.depth, t.created_at, t.id
    limit ${limits.treeBoards + 1}`
}
