import Type from 'typebox'
import { createGroup } from '../../collab/groups.ts'
import { route } from '../route.ts'
import { boardParams, groupAnswer, live } from '../schemas.ts'
import { groupChange, groupFields, name } from './fields.ts'

export const createGroupRoute = route({
  method: 'POST',
  path: '/boards/:id/groups',
  scope: 'write',
  summary: 'Create a group. Cards join it by their `group_id`.',
  schemas: { params: boardParams, body: Type.Object({ ...groupFields, name }) },
  answers: { 200: Type.Object({ group: groupAnswer, live }) },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const created = await createGroup(context.live, {
      account: principal.userId,
      boardId: params.id,
      change: { ...groupChange(body), name: groupChange({ name: body.name }).name! },
      now: new Date(context.clock.now()),
    })
    return { body: created }
  },
})
