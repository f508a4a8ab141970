import Type from 'typebox'
import { requireWritable } from '../../collab/access.ts'
import { errorCodes } from '../../core/errors.ts'
import { layoutNames } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { refuseUnwritable } from '../boards/refuse-unwritable.ts'
import { route } from '../http/route.ts'
import { named } from '../http/named.ts'
import { boardId, boardParams, Card, layout, live, nullable } from '../http/schemas.ts'
import { ImportProgress } from './import-progress.ts'
import { importItem } from './import-item.ts'
import { runImport } from './run-import.ts'

const ImportResult = named(
  'ImportResult',
  Type.Object({
    url: Type.String({ description: 'The URL of the item.' }),
    status: Type.Enum(['created', 'existing', 'failed', 'valid'], {
      description:
        '`existing`: the board already has a card for it. `valid`: it passed the checks of `dry_run`.',
    }),
    card_id: nullable(Type.String({ description: 'Id of the card. Null without one.' })),
    error: nullable(Type.String({ description: 'Why the item failed, as text. Null when it did not.' })),
    code: {
      ...nullable(Type.Enum(errorCodes)),
      description: 'Why the item failed, as an error code. Null when it did not.',
    },
  }),
  'The result of one item of an import.',
)

const megabytes = (bytes: number) => bytes / 1024 / 1024

export const importRoute = route({
  method: 'POST',
  path: '/boards/:id/import',
  scope: 'write',
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
      items: Type.Array(importItem, {
        minItems: 1,
        maxItems: limits.import.items,
        description: 'The URLs to import.',
      }),
      dry_run: Type.Optional(
        Type.Boolean({ description: '`true`: only validate the items. Nothing is fetched or created.' }),
      ),
      layout: Type.Optional(
        Type.Enum([...layoutNames], {
          description:
            'How to arrange the cards of items without both `x` and `y`. Default: `justified`. Other cards get their `x` and `y`.',
        }),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      layout,
      dry_run: Type.Boolean({ description: 'The `dry_run` of the request.' }),
      created: Type.Integer({ description: 'How many cards were created.' }),
      existing: Type.Integer({ description: 'How many items the board already had.' }),
      failed: Type.Integer({ description: 'How many items failed.' }),
      results: Type.Array(ImportResult, {
        description: 'One result for each item, in the order of the items.',
      }),
      cards: Type.Array(Card, { description: 'The cards that were created.' }),
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
