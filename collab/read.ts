/** A board as its document has it, for the API. */
import { presentCard, type CardContent, type CardTimes } from '../core/card.ts'
import { sanitizeHtml } from '../core/html.ts'
import type { Database } from '../sql/database.ts'
import type { Written } from './board-queue.ts'
import { cardsOf, findCard, readContent, readRaw } from './canvas.ts'
import type { BoardDocument } from './document.ts'
import type { LiveBoards } from './live.ts'

export type PresentedCard = Record<string, unknown>

export interface Extras {
  props: boolean
  identifiers: boolean
  raw: boolean
}

/** Characters of raw content that one card, and one page, show; what is beyond is cut off. */
const rawLimits = { card: 4 * 1024 * 1024, page: 64 * 1024 * 1024 }

/** The cards of a board from `offset`, in the order of `z`, then id. */
export async function readPage(
  live: LiveBoards,
  boardId: string,
  page: { limit: number; offset: number },
  extras: Extras,
): Promise<{ cards: PresentedCard[]; total: number }> {
  await catchUp(live, boardId)
  const { cards, total } = await live.documents.withDocument(boardId, ({ document }) => {
    const order: { id: string; z: number }[] = []
    for (const id of cardsOf(document).keys()) {
      const shared = findCard(document, id)
      if (!shared) continue
      const z = shared.get('z')
      order.push({ id, z: typeof z === 'number' && Number.isFinite(z) ? z : 0 })
    }
    order.sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1))
    let rawLeft = rawLimits.page
    return {
      total: order.length,
      cards: order.slice(page.offset, page.offset + page.limit).map(({ id }) => {
        const shared = findCard(document, id)!
        const budget = { left: Math.min(rawLimits.card, rawLeft) }
        const raw = extras.raw ? readRaw(shared, budget) : undefined
        rawLeft -= Math.min(rawLimits.card, rawLeft) - Math.max(budget.left, 0)
        return { id, content: safeContent(readContent(shared)), raw }
      }),
    }
  })
  const times = await cardTimes(
    live.database,
    boardId,
    cards.map(({ id }) => id),
  )
  return {
    total,
    cards: cards.map(({ id, content, raw }) =>
      presentCard(id, content, times.get(id) ?? noTimes, { ...extras, raw }),
    ),
  }
}

/** Some cards of a board, in the order of the ids; those that are gone are left out. */
export async function readCards(live: LiveBoards, boardId: string, ids: string[]): Promise<PresentedCard[]> {
  await catchUp(live, boardId)
  const [cards, times] = await Promise.all([
    live.documents.withDocument(boardId, ({ document }) =>
      ids.flatMap((id) => {
        const shared = findCard(document, id)
        return shared ? [{ id, content: readContent(shared) }] : []
      }),
    ),
    cardTimes(live.database, boardId, ids),
  ])
  return cards.map(({ id, content }) => presentWhole(id, content, times.get(id)))
}

/** A card as a write has left it. */
export function presentWritten(id: string, content: CardContent, written: Written): PresentedCard {
  const { created, updated } = written.times.get(id) ?? { created: written.at, updated: written.at }
  return presentWhole(id, content, {
    created_at: new Date(created).toISOString(),
    updated_at: new Date(updated).toISOString(),
  })
}

export const presentWhole = (id: string, content: CardContent, times: CardTimes = noTimes): PresentedCard =>
  presentCard(id, safeContent(content), times, wholeCard)

/** Other processes may have committed to a board that this one has in memory. Null when it has not. */
export async function catchUp(live: LiveBoards, boardId: string): Promise<BoardDocument | null> {
  const board = live.documents.find(boardId)
  if (!board) return null
  const [head] = await live.database.asSystem(
    (tx) => tx<{ seq: number }[]>`select seq from board_documents where board_id = ${boardId}`,
  )
  if (head) board.noticed(head.seq)
  await board.settled()
  return board
}

/** An editor may have written any `html`. */
export function safeContent(content: CardContent): CardContent {
  return content.html === null ? content : { ...content, html: sanitizeHtml(content.html) }
}

const wholeCard = { props: true, identifiers: true }
const noTimes = { created_at: null, updated_at: null }

/** When the index learned of cards; nothing for those that it does not hold yet. */
export async function cardTimes(
  database: Database,
  boardId: string,
  ids: string[],
): Promise<Map<string, { created_at: string; updated_at: string }>> {
  if (ids.length === 0) return new Map()
  const rows = await database.asSystem(
    (tx) => tx<{ card_id: string; created_at: Date; updated_at: Date }[]>`
      select card_id, created_at, updated_at
      from card_index
      where board_id = ${boardId} and card_id = any (${ids}) and deleted_at is null`,
  )
  return new Map(
    rows.map((row) => [
      row.card_id,
      { created_at: row.created_at.toISOString(), updated_at: row.updated_at.toISOString() },
    ]),
  )
}
