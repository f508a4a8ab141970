import Type from 'typebox'
import { integer } from '../http/vocabulary.ts'
import { removeGroup } from '../../collab/boards/groups.ts'
import { route } from '../http/route.ts'
import { Group, groupParams, live } from '../http/schemas.ts'

export const deleteGroup = route({
  method: 'DELETE',
  path: '/boards/:id/groups/:groupId',
  // No card is deleted, so `delete` is not needed.
  scope: 'write',
  refuses: ['forbidden', 'conflict'],
  summary: 'Ungroup: remove a group, but not its cards.',
  schemas: { params: groupParams },
  answers: {
    200: Type.Object({
      deleted: Type.Literal(true, { description: 'Always true.' }),
      group: Group,
      ungrouped: integer('How many cards were in it.'),
      live,
    }),
  },
  opensDocument: true,
  async handle(context, { principal, params }) {
    const removed = await removeGroup(context.live, {
      account: principal.userId,
      boardId: params.id,
      id: params.groupId,
    })
    return { body: { deleted: true, ...removed } }
  },
})
