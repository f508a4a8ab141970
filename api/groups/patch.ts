import Type from 'typebox'
import { patchGroup } from '../../collab/boards/groups.ts'
import { route } from '../http/route.ts'
import { Group, groupParams, live } from '../http/schemas.ts'
import { groupChange, groupFields } from './fields.ts'

export const patchGroupRoute = route({
  method: 'PATCH',
  path: '/boards/:id/groups/:groupId',
  scope: 'write',
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change a group. Only the fields that are sent change.',
  schemas: { params: groupParams, body: Type.Object(groupFields) },
  answers: { 200: Type.Object({ group: Group, live }) },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const patched = await patchGroup(context.live, {
      account: principal.userId,
      boardId: params.id,
      id: params.groupId,
      change: groupChange(body),
    })
    return { body: patched }
  },
})
