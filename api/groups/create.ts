import Type from 'typebox'
import { createGroup, readGroups } from '../../collab/boards/groups.ts'
import { ServiceError } from '../../core/errors.ts'
import { idsOf } from '../../sql/made.ts'
import { requireVisible } from '../boards/board.ts'
import { route } from '../http/route.ts'
import { boardParams, Group, live } from '../http/schemas.ts'
import { groupChange, groupFields, name } from './fields.ts'

export const createGroupRoute = route({
  method: 'POST',
  path: '/boards/:id/groups',
  scope: 'write',
  refuses: ['forbidden', 'limit_reached'],
  summary: 'Create a group. To put cards into it, set their `group_id`.',
  schemas: { params: boardParams, body: Type.Object({ ...groupFields, name }) },
  answers: { 200: Type.Object({ group: Group, live }) },
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
  async rebuild({ database, live }, { principal, params }, made) {
    const [id] = idsOf(made)
    await database.asUser(principal.userId, (tx) => requireVisible(tx, params.id))
    const { groups } = await readGroups(live, params.id, { limit: Infinity, offset: 0 })
    const group = groups.find((one) => one.id === id)
    if (!group) throw new ServiceError('not_found', 'This board has no group with this id.')
    return { body: { group, live: true } }
  },
})
