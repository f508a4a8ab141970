/** `POST /boards/{id}/restore-to`: brings a board, or some of its cards, back to what they were. */
import Type from 'typebox'
import { restoreTo, type Restored } from '../../collab/history/restore.ts'
import { limits } from '../../core/limits.ts'
import { currentOperation } from '../../sql/operation.ts'
import { requireRights } from '../http/authenticate.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, live } from '../http/schemas.ts'
import { flag, list, listOf } from '../http/vocabulary.ts'
import { broughtBack, dryRun, leftAlone } from './brought-back.ts'
import { requireRoom } from '../boards/capacity.ts'
import { moment, momentOf, pastMoment, pastReader, presentMoment } from '../boards/past.ts'

export const restoreBoardTo = route('POST /boards/:id/restore-to', 'write', {
  summary: 'Bring a board, or some of its cards, back to what they were.',
  description:
    'A new change, which can be undone in turn. Open canvases show it. Needs the scope `delete`, too, when cards are removed by it. With `card_ids`, all other cards stay as they are now; of the groups, only those come back that the cards were in. Cards that were moved to another board since, or here from one, are left where they are, and are listed in `skipped`. So are cards whose past at that moment was expunged. A guest needs the history to be shared.',
  schemas: {
    params: boardParams,
    body: Type.Object({
      as_of: moment,
      card_ids: Type.Optional(
        listOf(
          Type.String(),
          limits.cardsPerRequest,
          'Ids of the cards to bring back. Without it the whole board is.',
        ),
      ),
      dry_run: dryRun,
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      as_of: pastMoment,
      changes: broughtBack('What was brought back.'),
      skipped: leftAlone('Cards that were left as they are, and why.'),
      not_found: list(
        Type.String(),
        'Ids from the request that are on the board neither now nor at `as_of`.',
      ),
      dry_run: flag('True when nothing was written.'),
      live,
    }),
  },
  refuses: ['forbidden', 'limit_reached'],
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { as_of, card_ids, dry_run = false } = body
    const reader = await pastReader(context.database, principal.userId, params.id)
    const operation = currentOperation()
    const present = ({ changes, left, notFound, live, ...past }: Restored) => ({
      board_id: params.id,
      as_of: presentMoment(past),
      changes,
      skipped: left.map((one) => ({ type: 'card' as const, fields: [], ...one })),
      not_found: notFound,
      ...{ dry_run, live },
    })
    const restored = await restoreTo(context.live, {
      boardId: params.id,
      moment: momentOf(as_of),
      reader,
      ids: card_ids ?? null,
      dryRun: dry_run,
      requireDelete: () => requireRights(principal, { scope: 'delete' }),
      remember: (restored) => operation?.draft(present(restored)) ?? [],
    })
    if (dry_run)
      await requireRoom(context.database, context.freeCardCap, roomFor(principal.userId, params.id, restored))
    return { body: present(restored) }
  },
})

/** The cards that a board gains. */
export function roomFor(account: string, boardId: string, { changes }: Pick<Restored, 'changes'>) {
  const count = (what: string) =>
    changes.filter(({ type, change }) => type === 'card' && change === what).length
  return { account, boardId, adds: Math.max(0, count('created') - count('removed')) }
}
