/** A board as JSON, in chunks: `{format, version, exported_at, board, groups, cards}`. */
import type { Capture, CapturedCard } from '../../collab/boards/capture.ts'
import type { SafeHtml } from '../../collab/boards/safe-html.ts'
import { presentCard, type CardContent, type CardTimes } from '../../core/card.ts'

export interface Exported extends Capture {
  board: Record<string, unknown>
  /** Child boards that the caller may see. */
  children: { id: string }[]
  exportedAt: string
  times: Map<string, CardTimes>
  /** Sanitises the HTML of cards for the account that exports. */
  html: SafeHtml
  account: string
}

export const exportVersion = 1

/** Cards that are serialised before the event loop runs other work. */
const cardsPerChunk = 50

export async function* jsonExport(exported: Exported): AsyncGenerator<string> {
  const { board, groups, cards, exportedAt, times } = exported
  const head = { format: 'json', version: exportVersion, exported_at: exportedAt, board, groups }
  yield `${JSON.stringify(head).slice(0, -1)},"cards":[`
  for (let from = 0; from < cards.length; from += cardsPerChunk) {
    const chunk = cards.slice(from, from + cardsPerChunk)
    const contents = await safeContents(exported, chunk)
    const texts = chunk.map(({ id, raw }, at) =>
      JSON.stringify(
        presentCard(id, contents[at]!, times.get(id) ?? notIndexed, {
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

export const safeContents = ({ html, account }: Exported, cards: CapturedCard[]): Promise<CardContent[]> =>
  html.contents(
    account,
    cards.map(({ content }) => content),
  )

export const notIndexed: CardTimes = { created_at: null, updated_at: null }
