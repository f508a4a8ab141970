/** `GET /boards/{id}/diff`: what differs between two moments of a board. */
import Type from 'typebox'
import { diffPage } from '../../collab/history/diff.ts'
import { withPasts } from '../../collab/history/past.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, offsetPage, pageQuery } from '../http/schemas.ts'
import { integer, list, object, oneOf, text } from '../http/vocabulary.ts'
import { moment, momentOf, newest, pastMoment, pastReader, presentMoment } from './past.ts'

const textPiece = object('A piece of the text.', {
  op: oneOf(['kept', 'removed', 'added'], 'What became of it.'),
  text: text('The piece.'),
})

const change = (what: string) =>
  object(`A ${what} that differs.`, {
    id: text(`Id of the ${what}.`),
    change: oneOf(['added', 'removed', 'changed'], 'What became of it between the two moments.'),
    fields: list(
      object('A field that differs.', {
        field: text('Its name, as the canvas stores it.'),
        before: Type.Unknown({ description: 'Its value at `from`. Null when it had none.' }),
        after: Type.Unknown({ description: 'Its value at `to`. Null when it has none.' }),
        diff: Type.Optional(
          list(textPiece, 'For two texts: their pieces, in order. Very long texts are shown as replaced.'),
        ),
        too_large: Type.Optional(
          Type.Literal(true, { description: 'The values are too large to be shown: both are null.' }),
        ),
      }),
      'Fields that differ; for what was added or removed, all of them.',
    ),
  })

export const readDiff = route('GET /boards/:id/diff', 'read', {
  summary: 'Compare a board at two moments, field by field.',
  description:
    'Cards come in the order of their ids, in pages by `offset`; groups with the first page. Members of the workspace see all that is kept; a guest needs the history to be shared.',
  schemas: {
    params: boardParams,
    query: Type.Object({ from: moment, to: Type.Optional(moment), ...pageQuery }),
  },
  answers: {
    200: offsetPage({
      board_id: boardId,
      from: pastMoment,
      to: pastMoment,
      cards: list(change('card'), 'Cards that differ.'),
      groups: list(change('group'), 'Groups that differ. On the first page only.'),
      total: integer('How many cards differ.'),
    }),
  },
  refuses: ['forbidden'],
  opensDocument: true,
  async handle({ database, live, clock }, { principal, params, query }) {
    const page = pageOf(query)
    const from = momentOf(query.from, 'from')
    const to = query.to === undefined ? newest(clock) : momentOf(query.to, 'to')
    const reader = await pastReader(database, principal.userId, params.id)
    return withPasts(live, params.id, [from, to], reader, async ([first, second]) => {
      const [before, after] = [first!.document, second!.document]
      const { changes, total, more } = await diffPage(before, after, 'cards', page)
      const groups = page.offset > 0 ? [] : (await diffPage(before, after, 'groups', allGroups)).changes
      return {
        body: {
          board_id: params.id,
          from: presentMoment(first!),
          to: presentMoment(second!),
          ...{ cards: changes, groups, total },
          limit: page.limit,
          offset: page.offset,
          has_more: more,
          next_offset: more ? page.offset + changes.length : null,
        },
      }
    })
  },
})

const allGroups = { limit: Infinity, offset: 0 }
