/** A board as JSON, piece by piece: `{format, version, exported_at, board, groups, cards}`. */
import type { Capture } from '../../collab/capture.ts'
import { safeContent } from '../../collab/read.ts'
import { presentCard, type CardTimes } from '../../core/card.ts'

export interface Exported extends Capture {
  board: Record<string, unknown>
  /** Boards below it that the caller may see. */
  children: { id: string }[]
  exportedAt: string
  times: Map<string, CardTimes>
}

export const exportVersion = 1

/** Text that is made before others have their turn. */
const cardsPerChunk = 50

export function* jsonExport({ board, groups, cards, exportedAt, times }: Exported): Generator<string> {
  const head = { format: 'json', version: exportVersion, exported_at: exportedAt, board, groups }
  yield `${JSON.stringify(head).slice(0, -1)},"cards":[`
  for (let from = 0; from < cards.length; from += cardsPerChunk) {
    const texts = cards.slice(from, from + cardsPerChunk).map(({ id, content, raw }) =>
      JSON.stringify(
        presentCard(id, safeContent(content), times.get(id) ?? notIndexed, {
          props: true,
          identifiers: true,
          raw,
        }),
      ),
    )
    yield (from === 0 ? '' : ',') + texts.join(',')
  }
  yield ']}'
}

export const notIndexed: CardTimes = { created_at: null, updated_at: null }
