import Type from 'typebox'
import { undoOnBoard } from '../../history/undo.ts'
import { boardId, flag, text } from '../fields.ts'
import { fitting } from '../fit.ts'
import { count, tool } from '../tool.ts'

export const undoMyChanges = tool('undo_my_changes', 'Undo your own changes', {
  description:
    'Undoes what you changed on a board: since a time, or by one call, whose request_id board_history tells. What others have changed since stays.',
  route: undoOnBoard,
  destructive: true,
  idempotent: true,
  input: {
    board_id: boardId,
    since: Type.Optional(text('RFC 3339 time. Required without request_id.')),
    until: Type.Optional(text('Changes at or before this RFC 3339 time only.')),
    request_id: Type.Optional(text('Changes of this request only.')),
    dry_run: flag('Only tell what would be undone.'),
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body: { actor: 'me', ...body } }),
  show({ board_id, undone, not_undone, dry_run, live }) {
    const kept = not_undone.length > 0 ? ` Not undone: ${not_undone.length}; reason tells why.` : ''
    const left = fitting(not_undone)
    return {
      said: `${dry_run ? 'Would undo' : 'Undid'} the changes of ${count(undone.length, 'object')}.${kept}`,
      lines: left,
      content: { board_id, undone: fitting(undone), not_undone: left, dry_run, live },
    }
  },
})
