import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { since } from '../feed.ts'
import { cutPage, includeOf, pageOf } from '../page.ts'
import { route } from '../route.ts'
import { boardAnswer, pageAnswer, pageQuery, uuid, uuidPattern } from '../schemas.ts'
import { boardColumns, boardsWithParent, presentBoard, type BoardRow } from './board.ts'
import { readBoardFeed } from './feed.ts'

const query = Type.Object({
  workspace: Type.Optional(uuid),
  parent: Type.Optional(Type.String({ description: 'A board id, or `root` for top-level boards.' })),
  deleted: Type.Optional(
    Type.Enum(['1', '0'], {
      description:
        '`1` lists the trash in place of live boards; with `since`, live boards and the trash, and of each the parent that it has, also one in the trash.',
    }),
  ),
  since,
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'The `next_cursor` of the page before, of a walk with `since`. Send the same filters with it.',
    }),
  ),
  include: Type.Optional(Type.String({ description: 'Comma list of `props`, `identifiers`.' })),
  ...pageQuery,
})

export const listBoards = route({
  method: 'GET',
  path: '/boards',
  scope: 'read',
  summary: 'List boards, or follow their changes.',
  schemas: { query },
  answers: {
    200: Type.Union([
      Type.Object({ boards: Type.Array(boardAnswer), ...pageAnswer }),
      Type.Object({
        boards: Type.Array(boardAnswer),
        limit: Type.Integer(),
        has_more: Type.Boolean(),
        next_cursor: Type.String(),
      }),
    ]),
  },
  async handle({ database }, { principal, query }) {
    const include = includeOf(query.include, ['props', 'identifiers'])
    const page = pageOf(query)
    const { parent, workspace } = query
    if (parent !== undefined && parent !== 'root' && !uuidPattern.test(parent)) {
      throw new ServiceError('bad_request', 'parent must be a board id or `root`.')
    }
    if (query.since !== undefined || query.cursor !== undefined) {
      const feed = { ...query, include, trash: query.deleted === '1', limit: page.limit }
      return database.asUser(principal.userId, (tx) => readBoardFeed(tx, feed))
    }
    const rows = await database.asUser(
      principal.userId,
      (tx) => tx<BoardRow[]>`
        select ${boardColumns(tx)}
        from ${boardsWithParent(tx)}
        where ${query.deleted === '1' ? tx`b.deleted_at is not null` : tx`b.deleted_at is null`}
          ${workspace === undefined ? tx`` : tx`and b.workspace_id = ${workspace}`}
          ${parent === undefined ? tx`` : parent === 'root' ? tx`and p.id is null` : tx`and p.id = ${parent}`}
        order by b.created_at, b.id
        limit ${page.limit + 1} offset ${page.offset}`,
    )
    const { shown, end } = cutPage(page, rows)
    return { body: { boards: shown.map((row) => presentBoard(row, include)), ...end } }
  },
})
