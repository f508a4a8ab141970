import Type from 'typebox'
import { requireWritable } from '../../collab/access.ts'
import { errorCodes } from '../../core/errors.ts'
import { layoutNames } from '../../core/layout/arrangement.ts'
import { limits } from '../../core/limits.ts'
import { route } from '../route.ts'
import { boardParams, cardAnswer, layout, live, nullable, uuid } from '../schemas.ts'
import { ImportProgress } from './import-progress.ts'
import { importItem } from './import-item.ts'
import { runImport } from './run-import.ts'

export const importRoute = route({
  method: 'POST',
  path: '/boards/:id/import',
  scope: 'write',
  refuses: ['forbidden'],
  summary: 'Import up to 100 remote URLs as cards: images, files, and pages as links. Safe to run again.',
  schemas: {
    params: boardParams,
    body: Type.Object(
      {
        items: Type.Array(importItem, { minItems: 1, maxItems: limits.import.items }),
        dry_run: Type.Optional(Type.Boolean({ description: 'Validate without fetching or creating.' })),
        layout: Type.Optional(
          Type.Enum([...layoutNames], {
            default: 'justified',
            description: 'For the items without both `x` and `y`; others keep their place.',
          }),
        ),
      },
      {
        description:
          `Fetching takes at most ${limits.import.callMs / 1000} s in all and ${limits.import.itemMs / 1000} s for each item, ${limits.import.atOnce} at a time for an account; ` +
          'items that do not get their turn fail with `upstream_error`, and come with the next run. ' +
          'Redirects are followed 5 times, images taken up to 25 MB, other files up to 100 MB; of a page its first 1 MB is read.',
      },
    ),
  },
  answers: {
    200: Type.Object({
      board_id: uuid,
      layout,
      dry_run: Type.Boolean(),
      created: Type.Integer(),
      existing: Type.Integer(),
      failed: Type.Integer(),
      results: Type.Array(
        Type.Object({
          url: Type.String(),
          status: Type.Enum(['created', 'existing', 'failed', 'valid']),
          card_id: nullable(Type.String()),
          error: nullable(Type.String()),
          code: nullable(Type.Enum(errorCodes)),
        }),
        { description: 'One for each item, in their order.' },
      ),
      cards: Type.Array(cardAnswer, { description: 'Those that were created.' }),
      live,
    }),
  },
  bodyLimitBytes: limits.import.bodyBytes,
  opensDocument: true,
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
