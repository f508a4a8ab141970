/** A card as it was after one of its changes, what that change was, and a button that brings the card back to it. */
import type { ReactNode } from 'react'
import type { EditorCard } from '../../client/editor/index.ts'
import { useAction } from '../controls/ask.tsx'
import { Shown } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { timeText } from '../controls/when.tsx'
import { Contents } from '../contents/contents.tsx'
import { request } from '../service/request.ts'
import { fieldsText, type BroughtBack, type Difference, type HistoryEntry } from './changes.ts'
import { Changed } from './differences.tsx'
import { Step } from './step.tsx'

interface CardThenProps {
  boardId: string
  cardId: string
  canWrite: boolean
  entry: HistoryEntry
  back(): void
  done(): Promise<void>
}

interface Then {
  /** Null: the card was not on the board then. */
  card: EditorCard | null
  changed: Difference | null
  /** What would be done to bring it back. Empty: the card is like this now. Null: it can't be brought back from there. */
  way: BroughtBack[] | null
}

export function CardThen({ boardId, cardId, canWrite, entry, back, done }: CardThenProps): ReactNode {
  const restore = (dry: boolean) =>
    request('POST /boards/{id}/restore-to', {
      path: { id: boardId },
      body: { as_of: String(entry.position), card_ids: [cardId], dry_run: dry },
    })
  const read = async (): Promise<Then> => {
    const [card, changed] = await Promise.all([readCard(entry, cardId), readChange(entry, cardId)])
    const isPossible = canWrite && card !== null && entry.board_id === boardId
    return { card, changed, way: isPossible ? (await restore(true)).changes : null }
  }
  const then = useLoaded(`${entry.board_id} ${entry.position} ${cardId}`, read)
  const { run, isBusy, fault } = useAction()
  const bringBack = () =>
    void run(async () => {
      await restore(false)
      await done()
    })
  return (
    <Step title={timeText(entry.at, 'exact')} back={back}>
      <p>{entry.summary}</p>
      <Shown of={then}>
        {({ card, changed, way }) => (
          <>
            {card ? (
              <article className={`card then ${card.kind}`} aria-label="The card as it was">
                <Contents card={card} />
              </article>
            ) : (
              <p>The card was not on the board then.</p>
            )}
            {changed?.change === 'changed' && <Changed what="This change" difference={changed} />}
            {way?.length === 0 && <p className="quiet">The card is like this now.</p>}
            {fault !== null && (
              <p className="fault" role="alert">
                {fault}
              </p>
            )}
            {way && way.length > 0 && (
              <>
                <p className="quiet">
                  To bring it back is a new change, which can be undone. It changes:{' '}
                  {fieldsText(way.flatMap(({ fields }) => fields)) || 'everything'}.
                </p>
                <button type="button" className="main" disabled={isBusy} onClick={bringBack}>
                  Bring this back
                </button>
              </>
            )}
          </>
        )}
      </Shown>
    </Step>
  )
}

const pageSize = 500

/** The API has no single card of the past, so its pages are read until the card is there. */
async function readCard(
  { board_id: id, position }: HistoryEntry,
  cardId: string,
): Promise<EditorCard | null> {
  for (let offset: number | null | undefined = 0; typeof offset === 'number';) {
    const query = { as_of: String(position), limit: pageSize, offset }
    const page: { cards: { id: string }[]; next_offset?: number | null } = await request(
      'GET /boards/{id}/cards',
      { path: { id }, query },
    )
    const card = page.cards.find((one) => one.id === cardId)
    // The API presents a card with the fields that an editor reads.
    if (card) return card as EditorCard
    offset = page.next_offset
  }
  return null
}

async function readChange(entry: HistoryEntry, cardId: string): Promise<Difference | null> {
  const span = { from: String(entry.before), to: String(entry.position) }
  for (let offset: number | null = 0; offset !== null;) {
    const page: { cards: Difference[]; next_offset: number | null } = await request('GET /boards/{id}/diff', {
      path: { id: entry.board_id },
      query: { ...span, limit: pageSize, offset },
    })
    const change = page.cards.find(({ id }) => id === cardId)
    if (change) return change
    offset = page.next_offset
  }
  return null
}
