import Type from 'typebox'
import { listHistory } from '../../boards/history.ts'
import { boardId, items, text } from '../fields.ts'
import { fitting } from '../fit.ts'
import { count, tool } from '../tool.ts'

export const boardHistory = tool('board_history', 'Read what changed on a board', {
  description:
    'Lists the changes of a board, newest first: who made them, when, how, and which cards. position is the board after the change and before the board before it: read_cards with as_of shows the cards of that moment.',
  route: listHistory,
  input: {
    board_id: boardId,
    since: Type.Optional(text('Changes at or after this RFC 3339 time only.')),
    until: Type.Optional(text('Changes at or before this RFC 3339 time only.')),
    actor: Type.Optional(text('Changes by the account with this id only.')),
    card_id: Type.Optional(text('Changes of this card only.')),
    limit: Type.Optional(Type.Integer({ maximum: 100, default: 20, description: 'Most changes to return.' })),
    cursor: Type.Optional(text('next_cursor of the previous call.')),
  },
  output: {
    entries: items('The changes, newest first.'),
  },
  call: ({ board_id, limit = 20, ...query }) => ({ params: { id: board_id }, query: { ...query, limit } }),
  show({ board_id, entries, has_more, next_cursor, kept_since }) {
    const shown = fitting(entries)
    const more = has_more ? ` There are more: call again with cursor ${String(next_cursor)}.` : ''
    return {
      said: `${count(shown.length, 'change')}, newest first.${more}`,
      lines: shown.map(({ position, at, summary, card_ids }) => ({ position, at, summary, card_ids })),
      content: { board_id, entries: shown, has_more, next_cursor, kept_since },
    }
  },
})
