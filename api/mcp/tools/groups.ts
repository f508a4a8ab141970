import Type from 'typebox'
import { createGroupRoute } from '../../groups/create.ts'
import { deleteGroup } from '../../groups/delete.ts'
import { groupFields, name } from '../../groups/fields.ts'
import { listGroups as listRoute } from '../../groups/list.ts'
import { patchGroupRoute } from '../../groups/patch.ts'
import { groupAnswer, live, uuid } from '../../schemas.ts'
import { fitting, pageEndAt } from '../fit.ts'
import { boardId, count, goOn, pageInput, pageOutput, tool } from '../tool.ts'
import type { Group } from './shown.ts'

const groupId = Type.String({ description: 'Of the group; list_groups gives it.' })
const output = { group: groupAnswer, live }

export const listGroups = tool({
  name: 'list_groups',
  title: 'List groups',
  description: 'The groups of a board. A card is in the group that its group_id names.',
  route: listRoute,
  input: { board_id: boardId, ...pageInput(50) },
  output: { board_id: uuid, groups: Type.Array(groupAnswer), ...pageOutput },
  call: ({ board_id, ...query }) => ({ params: { id: board_id }, query }),
  show({ groups, offset, has_more }: { groups: Group[]; offset: number; has_more: boolean }, { board_id }) {
    const shown = fitting(groups)
    const end = pageEndAt(shown.length, { items: groups, offset, has_more })
    return {
      said: `${count(shown.length, 'group')}.${goOn(end)}`,
      lines: shown.map(({ id, name, card_count }) => ({ id, name, card_count })),
      content: { board_id, groups: shown, offset, ...end },
    }
  },
})

const shownAs = (said: string, group: Group, live: boolean) => ({
  said,
  lines: [{ id: group.id, name: group.name }],
  content: { group, live },
})

export const createGroup = tool({
  name: 'create_group',
  title: 'Create a group',
  description:
    'Makes a group on a board. Cards join it by their group_id: on create_cards, or later with update_cards.',
  route: createGroupRoute,
  input: { board_id: boardId, ...groupFields, name },
  output,
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show: ({ group, live }: { group: Group; live: boolean }) =>
    shownAs(`Created group ${group.id}.`, group, live),
})

export const updateGroup = tool({
  name: 'update_group',
  title: 'Change a group',
  description: 'Changes what is given of a group: name, color, shape, outline.',
  route: patchGroupRoute,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, group_id: groupId, ...groupFields },
  output,
  call: ({ board_id, group_id, ...body }) => ({ params: { id: board_id, groupId: group_id }, body }),
  show: ({ group, live }: { group: Group; live: boolean }) => shownAs('Changed the group.', group, live),
})

export const ungroup = tool({
  name: 'ungroup',
  title: 'Ungroup',
  description: 'Removes a group. Its cards stay where they are.',
  route: deleteGroup,
  destructive: true,
  input: { board_id: boardId, group_id: groupId },
  output: { ...output, ungrouped: Type.Integer({ description: 'Cards that were in it.' }) },
  call: ({ board_id, group_id }) => ({ params: { id: board_id, groupId: group_id } }),
  show: ({ group, ungrouped, live }: { group: Group; ungrouped: number; live: boolean }) => ({
    said: `Removed the group; ${count(ungrouped, 'card')} stayed.`,
    lines: [{ id: group.id, name: group.name }],
    content: { group, ungrouped, live },
  }),
})
