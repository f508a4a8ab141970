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
      description: '`existing`: the board had it already. `valid`: it passed with `dry_run`.',
    }),
    card_id: nullable(Type.String({ description: 'Id of its card. Null when there is none.' })),
    error: nullable(Type.String({ description: 'What went wrong, for a person. Null when nothing did.' })),
    code: {
      ...nullable(Type.Enum(errorCodes)),
      description: 'What went wrong, for a program. Null when nothing did.',
    },
  }),
  'What became of one item of an import.',
)

const megabytes = (bytes: number) => bytes / 1024 / 1024

export const importRoute = route({
  method: 'POST',
  path: '/boards/:id/import',
  scope: 'write',
  refuses: ['forbidden'],
  summary: `Import up to ${limits.import.items} remote URLs as cards. Safe to repeat.`,
  description: [
    'Images and files are stored; of a page a link card is made. An item that the board has already is not imported again.',
    `Fetching takes at most ${limits.import.callMs / 1000} seconds in all and ${limits.import.itemMs / 1000} seconds for each item, ${limits.import.atOnce} at a time for an account. Items that get no turn in that time fail with \`upstream_error\`: repeat the request.`,
    `Up to ${limits.import.redirects} redirects are followed. Images may have ${megabytes(limits.files.uploadBytes)} MB and other files ${megabytes(limits.import.fileBytes)} MB; of a page the first ${megabytes(limits.import.pageBytes)} MB is read.`,
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
        Type.Boolean({ description: '`true`: validate the items, and fetch and create nothing.' }),
      ),
      layout: Type.Optional(
        Type.Enum([...layoutNames], {
          description:
            'How the cards of items without both `x` and `y` are arranged; `justified` when absent. Others get the place that they name.',
        }),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board_id: boardId,
      layout,
      dry_run: Type.Boolean({ description: 'True when nothing was fetched or created.' }),
      created: Type.Integer({ description: 'How many cards were created.' }),
      existing: Type.Integer({ description: 'How many items the board had already.' }),
      failed: Type.Integer({ description: 'How many items failed.' }),
      results: Type.Array(ImportResult, { description: 'One for each item, in their order.' }),
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
