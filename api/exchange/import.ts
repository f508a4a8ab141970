import Type from 'typebox'
import { flag, integer, list, listOf, named, nullable, oneOf, text } from '../http/vocabulary.ts'
import { requireWritable } from '../../collab/access.ts'
import { errorCodes } from '../../core/errors.ts'
import { layoutNames } from '../../core/layout/solve.ts'
import { limits } from '../../core/limits.ts'
import { refuseUnwritable } from '../boards/refuse-unwritable.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, Card, layout, live } from '../http/schemas.ts'
import { ImportProgress } from './import-progress.ts'
import { importItem } from './import-item.ts'
import { runImport } from './run-import.ts'

const ImportResult = named('ImportResult', 'The result of one item of an import.', {
  url: text('The URL of the item.'),
  status: oneOf(
    ['created', 'existing', 'failed', 'valid'],
    '`existing`: the board already has a card for it. `valid`: it passed the checks of `dry_run`.',
  ),
  card_id: nullable(text('Id of the card. Null without one.')),
  error: nullable(text('Why the item failed, as text. Null when it did not.')),
  code: nullable(Type.Enum(errorCodes), 'Why the item failed, as an error code. Null when it did not.'),
})

const megabytes = (bytes: number) => bytes / 1024 / 1024

export const importRoute = route('POST /boards/:id/import', 'write', {
  refuses: ['forbidden'],
  summary: `Import up to ${limits.import.items} remote URLs as cards. Safe to repeat.`,
  description: [
    'Images and other files are stored. A web page becomes a link card. An item that the board already has is not imported again.',
    `Fetching takes at most ${limits.import.callMs / 1000} seconds in total and ${limits.import.itemMs / 1000} seconds for each item. An account fetches at most ${limits.import.atOnce} URLs at a time. Items that are not fetched in that time fail with \`upstream_error\`: repeat the request.`,
    `Up to ${limits.import.redirects} redirects are followed. Images can have up to ${megabytes(limits.files.uploadBytes)} MB, other files up to ${megabytes(limits.import.fileBytes)} MB. Only the first ${megabytes(limits.import.pageBytes)} MB of a page is read.`,
  ].join('\n\n'),
  schemas: {
    params: boardParams,
    body: Type.Object({
      items: listOf(importItem, limits.import.items, 'The URLs to import.'),
      dry_run: Type.Optional(flag('`true`: only validate the items. Nothing is fetched or created.')),
      layout: Type.Optional(
        oneOf(
          layoutNames,
          'How to arrange the cards of items without both `x` and `y`. Default: `justified`. Other cards get their `x` and `y`.',
        ),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      layout,
      dry_run: flag('The `dry_run` of the request.'),
      created: integer('How many cards were created.'),
      existing: integer('How many items the board already had.'),
      failed: integer('How many items failed.'),
      results: list(ImportResult, 'One result for each item, in the order of the items.'),
      cards: list(Card, 'The cards that were created.'),
      live,
    }),
  },
  bodyLimitBytes: limits.import.bodyBytes,
  opensDocument: true,
  refuseEarly: refuseUnwritable,
  async handle(context, { principal, params, body, resumed }) {
    await requireWritable(context.database, principal.userId, params.id)
    const answer = await runImport(context, {
      account: principal.userId,
      boardId: params.id,
      items: body.items,
      layout: body.layout ?? 'justified',
      dryRun: body.dry_run ?? false,
      progress: new ImportProgress(resumed),
    })
    return { body: answer }
  },
})
