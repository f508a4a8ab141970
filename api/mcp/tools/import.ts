import Type from 'typebox'
import { errorCodes } from '../../../core/errors.ts'
import { layoutNames } from '../../../core/layout/arrangement.ts'
import { importItem } from '../../exchange/import-item.ts'
import { importRoute } from '../../exchange/import.ts'
import { live, nullable, uuid } from '../../schemas.ts'
import { boardId, count, tool } from '../tool.ts'
import { placedCard, showPlaced, type Card } from './shown.ts'

const result = Type.Object({
  url: Type.String(),
  status: Type.Enum(['created', 'existing', 'failed', 'valid']),
  card_id: nullable(Type.String()),
  error: nullable(Type.String()),
  code: nullable(Type.Enum(errorCodes)),
})

/** Their answer has to fit. */
const itemsPerCall = 50

export const importUrls = tool({
  name: 'import_urls',
  title: 'Import URLs as cards',
  description:
    'Fetches public https URLs and makes a card of each: images with their size, video, audio, PDF, pages as links with title and description, all else as files. Can be repeated: what is on the board already is `existing`. Takes up to a minute.',
  route: importRoute,
  idempotent: true,
  openWorld: true,
  input: {
    board_id: boardId,
    items: Type.Array(importItem, { minItems: 1, maxItems: itemsPerCall }),
    layout: Type.Optional(Type.Enum([...layoutNames], { default: 'justified' })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Check, and fetch and create nothing.' })),
  },
  output: {
    board_id: uuid,
    dry_run: Type.Boolean(),
    created: Type.Integer(),
    existing: Type.Integer(),
    failed: Type.Integer(),
    results: Type.Array(result, { description: 'One for each item, in their order.' }),
    cards: Type.Array(placedCard),
    live,
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show({
    board_id,
    dry_run,
    created,
    existing,
    failed,
    results,
    cards,
    live,
  }: {
    board_id: string
    dry_run: boolean
    created: number
    existing: number
    failed: number
    results: {
      url: string
      status: string
      card_id: string | null
      error: string | null
      code: string | null
    }[]
    cards: Card[]
    live: boolean
  }) {
    const retry = failed > 0 ? ' Call again for those that failed; what is there is kept.' : ''
    return {
      said: `${dry_run ? 'Nothing was fetched. ' : ''}Created ${count(created, 'card')}; ${existing} existed, ${failed} failed.${retry}`,
      lines: results.map(({ url, status, card_id, error }) => ({ url, status, card_id, error })),
      content: { board_id, dry_run, created, existing, failed, results, cards: cards.map(showPlaced), live },
    }
  },
})
