import Type, { type Static } from 'typebox'
import { createGroup, patchGroup, readGroups, removeGroup } from '../../collab/boards/groups.ts'
import { cardFields } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { groupShapes, type GroupChange } from '../../core/group.ts'
import { limits } from '../../core/limits.ts'
import { idsOf } from '../../sql/made.ts'
import { requireVisibleTo } from '../boards/board.ts'
import { trimmedName } from '../boards/fields.ts'
import { pageEnd, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardParams, Group, groupParams, live, offsetPage, pageQuery } from '../http/schemas.ts'
import { flag, integer, list, nullable, oneOf, text } from '../http/vocabulary.ts'

const name = text(`Name of the group, 1 to ${limits.name} characters. Spaces at both ends are removed.`)
const groupFields = {
  name: Type.Optional(name),
  color: Type.Optional(
    nullable(text('Color of the group. Null: the default.', { maxLength: cardFields.color.limit })),
  ),
  shape: Type.Optional(
    oneOf(
      groupShapes,
      '`box` draws a rectangle around the cards, `hug` follows their outline. Default on create: `box`.',
    ),
  ),
  outline: Type.Optional(flag('Whether the outline is drawn. Default on create: true.')),
}
const groupBody = Type.Object(groupFields)

export const listGroups = route('GET /boards/:id/groups', 'read', {
  summary: 'List the groups of a board, oldest first.',
  schemas: { params: boardParams, query: Type.Object(pageQuery) },
  answers: { 200: offsetPage({ groups: list(Group, 'The groups of this page.') }) },
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const page = pageOf(query)
    await requireVisibleTo(context.database, principal.userId, params.id)
    const { groups, total } = await readGroups(context.live, params.id, page)
    return { body: { groups, ...pageEnd(page, total - page.offset) } }
  },
})

export const createGroupRoute = route('POST /boards/:id/groups', 'write', {
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
    await requireVisibleTo(database, principal.userId, params.id)
    const { groups } = await readGroups(live, params.id, { limit: Infinity, offset: 0 })
    const group = groups.find((one) => one.id === id)
    if (!group) throw new ServiceError('not_found', 'This board has no group with this id.')
    return { body: { group, live: true } }
  },
})

export const patchGroupRoute = route('PATCH /boards/:id/groups/:groupId', 'write', {
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  summary: 'Change a group. Only the fields that are sent change.',
  schemas: { params: groupParams, body: groupBody },
  answers: { 200: Type.Object({ group: Group, live }) },
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { id: boardId, groupId: id } = params
    const change = groupChange(body)
    return { body: await patchGroup(context.live, { account: principal.userId, boardId, id, change }) }
  },
})

export const deleteGroup = route('DELETE /boards/:id/groups/:groupId', 'write', {
  // No card is deleted, so `delete` is not needed.
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
    const { id: boardId, groupId: id } = params
    const removed = await removeGroup(context.live, { account: principal.userId, boardId, id })
    return { body: { deleted: true, ...removed } }
  },
})

/** @throws ServiceError `bad_request` */
function groupChange({ name, color, shape, outline }: Static<typeof groupBody>): GroupChange {
  return {
    ...(name === undefined ? {} : { name: trimmedName(name, limits.name) }),
    ...(color === undefined ? {} : { color: color || null }),
    ...(shape === undefined ? {} : { shape }),
    ...(outline === undefined ? {} : { outline }),
  }
}
