/** A board as JSON, in chunks: `{format, version, exported_at, board, groups, cards}`. */
import type { Capture, CapturedCard } from '../../collab/boards/capture.ts'
import type { SafeHtml } from '../../collab/boards/safe-html.ts'
import { LoopTurn } from '../../platform/work/loop-turn.ts'
import { presentCard, type CardContent, type CardTimes } from '../../core/card.ts'

export interface Exported extends Capture {
  board: Record<string, unknown>
  /** Child boards that the caller may see. */
  children: { id: string }[]
  exportedAt: string
  /** The moment of an export of the past. */
  asOf: { position: number; at: string | null } | undefined
  times: Map<string, CardTimes>
  /** Sanitises the HTML of cards for the account that exports. */
  html: SafeHtml
  account: string
}

export const exportVersion = 1

/** Cards whose HTML is sanitised together. */
const cardsAtOnce = 50
/** Characters of text that go out together. */
export const chunkChars = 64 * 1024

export async function* jsonExport(exported: Exported): AsyncGenerator<string> {
  const { board, groups, cards, exportedAt, asOf, times } = exported
  const head = { format: 'json', version: exportVersion, exported_at: exportedAt, as_of: asOf, board, groups }
  const turn = new LoopTurn()
  let chunk = `${JSON.stringify(head).slice(0, -1)},"cards":[`
  for (let from = 0; from < cards.length; from += cardsAtOnce) {
    const some = cards.slice(from, from + cardsAtOnce)
    const contents = await safeContents(exported, some)
    for (const [at, { id, version, raw }] of some.entries()) {
      if (turn.isOver()) await turn.next()
      const extras = { props: true, identifiers: true, raw }
      const content = contents[at]!
      const card = presentCard({ id, content, version }, times.get(id) ?? notIndexed, extras)
      chunk += (from + at === 0 ? '' : ',') + JSON.stringify(card)
      if (chunk.length < chunkChars) continue
      yield chunk
      chunk = ''
    }
  }
  yield `${chunk}]}`
}

export const safeContents = ({ html, account }: Exported, cards: CapturedCard[]): Promise<CardContent[]> =>
  html.contents(
    account,
    cards.map(({ content }) => content),
  )

export const notIndexed: CardTimes = { created_at: null, updated_at: null }
