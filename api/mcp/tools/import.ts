import Type from 'typebox'
import { importRoute } from '../../exchange/import.ts'
import { boardId, flag, importFields, integer, items, layout, listOf, text } from '../fields.ts'
import { count, tool } from '../tool.ts'
import { showPlaced } from './shown.ts'

/** Most items of one call. Their answer must fit the context window. */
const itemsPerCall = 50

export const importUrls = tool('import_urls', 'Import URLs as cards', {
  description:
    'Fetches public https URLs and creates a card from each: image, video, audio, pdf or other file. A web page becomes a link with its title and description. URLs already on the board are skipped. Takes up to a minute.',
  route: importRoute,
  idempotent: true,
  openWorld: true,
  input: {
    board_id: boardId,
    items: listOf(
      Type.Object({ url: text('Public https URL to fetch.'), ...importFields }),
      itemsPerCall,
      'URLs to import. Given fields override fetched ones.',
    ),
    layout,
    dry_run: flag('Only check the items; fetch and create nothing.'),
  },
  output: {
    created: integer,
    existing: integer,
    failed: integer,
    results: items('For each item, in order: url, status, card_id, error, code.'),
    cards: items('Cards with id, kind, title, position, size.'),
  },
  call: ({ board_id, ...body }) => ({ params: { id: board_id }, body }),
  show({ board_id, dry_run, created, existing, failed, results, cards, live }) {
    const retry = failed > 0 ? ' To retry the failed ones, call again: existing cards are kept.' : ''
    return {
      said: `${dry_run ? 'Nothing was fetched. ' : ''}Created ${count(created, 'card')}; ${existing} existed, ${failed} failed.${retry}`,
      lines: results.map(({ url, status, card_id, error }) => ({ url, status, card_id, error })),
      content: { board_id, dry_run, created, existing, failed, results, cards: cards.map(showPlaced), live },
    }
  },
})
