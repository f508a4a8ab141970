import { limits } from '../../../core/limits.ts'
import Type from 'typebox'
import {
  createGroupRoute,
  deleteGroup,
  listGroups as listRoute,
  patchGroupRoute,
} from '../../groups/groups.ts'
import { fitting, pageEndAt } from '../fit.ts'
import { boardId, groupFields, groupId, items, nextOffset, pageInput, text } from '../fields.ts'
import { count, goOn, tool } from '../tool.ts'
import type { Group } from './shown.ts'

const name = text(`Name, 1 to ${limits.name} characters.`)

export const listGroups = tool('list_groups', 'List groups', {
  description:
    'Lists the groups of a board with the number of their cards. A card’s group_id names its group.',
  route: listRoute,
  input: { board_id: boardId, ...pageInput(50) },
  output: { groups: items('id, name, color, shape, outline, card_count.'), ...nextOffset },
  call: ({ board_id, ...query }) => ({ params: { id: board_id }, query }),
  show({ groups, offset, has_more }, { board_id }) {
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

export const createGroup = tool('create_group', 'Create a group', {
  description:
    'Creates an empty group on a board. To put cards into it, set their group_id with create_cards or update_cards.',
  route: createGroupRoute,
  input: { board_id: boardId, name, ...groupFields },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show: ({ group, live }) => shownAs(`Created group ${group.id}.`, group, live),
})

export const updateGroup = tool('update_group', 'Change a group', {
  description: 'Changes the given fields of a group.',
  route: patchGroupRoute,
  destructive: true,
  idempotent: true,
  input: { board_id: boardId, group_id: groupId, name: Type.Optional(name), ...groupFields },
  call: ({ board_id, group_id, ...body }) => ({ params: { id: board_id, groupId: group_id }, body }),
  show: ({ group, live }) => shownAs('Changed the group.', group, live),
})

export const ungroup = tool('ungroup', 'Ungroup', {
  description: 'Removes a group. Its cards stay on the board, without a group.',
  route: deleteGroup,
  destructive: true,
  input: { board_id: boardId, group_id: groupId },
  call: ({ board_id, group_id }) => ({ params: { id: board_id, groupId: group_id } }),
  show: ({ group, ungrouped, live }) => ({
    said: `Removed the group. ${count(ungrouped, 'card')} stayed on the board.`,
    lines: [{ id: group.id, name: group.name }],
    content: { group, ungrouped, live },
  }),
})
