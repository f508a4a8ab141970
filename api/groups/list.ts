import Type from 'typebox'
import { list } from '../http/vocabulary.ts'
import { readGroups } from '../../collab/boards/groups.ts'
import { requireVisible } from '../boards/board.ts'
import { pageEnd, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardParams, Group, pageAnswer, pageQuery } from '../http/schemas.ts'

export const listGroups = route({
  method: 'GET',
  path: '/boards/:id/groups',
  scope: 'read',
  summary: 'List the groups of a board, oldest first.',
  schemas: { params: boardParams, query: Type.Object(pageQuery) },
  answers: {
    200: Type.Object({
      groups: list(Group, 'The groups of this page.'),
      ...pageAnswer,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const page = pageOf(query)
    await context.database.asUser(principal.userId, (tx) => requireVisible(tx, params.id))
    const { groups, total } = await readGroups(context.live, params.id, page)
    return { body: { groups, ...pageEnd(page, total - page.offset) } }
  },
})
