import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { since } from '../feed.ts'
import type { Transaction } from '../../sql/database.ts'
import { cutPage, includeOf, pageOf } from '../page.ts'
import { route } from '../route.ts'
import { boardAnswer, pageAnswer, pageQuery, uuid, uuidPattern } from '../schemas.ts'
import { boardPage, type BoardPage } from './board-page.ts'
import { presentBoard } from './board.ts'
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
    const trash = query.deleted === '1'
    if (query.since !== undefined || query.cursor !== undefined) {
      const feed = { ...query, include, trash, limit: page.limit }
      return database.asUser(principal.userId, (tx) => readBoardFeed(tx, feed))
    }
    const rows = await database.asUser(principal.userId, (tx) =>
      boardList(tx, { workspace, parent, trash, limit: page.limit + 1, offset: page.offset }),
    )
    const { shown, end } = cutPage(page, rows)
    return { body: { boards: shown.map((row) => presentBoard(row, include)), ...end } }
  },
})

/** As they were made. */
export const boardList = (
  tx: Transaction,
  { trash, ...page }: Pick<BoardPage, 'workspace' | 'parent' | 'limit' | 'offset'> & { trash: boolean },
) =>
  boardPage(tx, {
    ...page,
    order: 'created_at',
    condition: trash ? tx`b.deleted_at is not null` : tx`b.deleted_at is null`,
    trashedParents: trash,
  })
