/** Reads cards from a board's document, for the API. */
import { presentCard, type CardContent, type CardTimes } from '../../core/card.ts'
import { inTurns, mapInTurns } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import type { Written } from '../commit/write-request.ts'
import { cardOrder } from './card-order.ts'
import { findCard, readContent, readRaw } from '../canvas/canvas.ts'
import type { BoardDocument } from '../documents/document.ts'
import type { Json } from '../canvas/json.ts'
import type { LiveBoards } from './live.ts'

export type PresentedCard = Record<string, unknown>

export interface Extras {
  props: boolean
  identifiers: boolean
  raw: boolean
}

/** Limits for raw content, in characters, for one card and for one page. Content beyond them is cut off. */
const rawLimits = { card: 4 * 1024 * 1024, page: 64 * 1024 * 1024 }

/** A page of a board's cards, sorted by `z`, then id. */
export async function readPage(
  live: LiveBoards,
  boardId: string,
  page: { limit: number; offset: number },
  extras: Extras,
  account: string,
): Promise<{ cards: PresentedCard[]; total: number }> {
  await catchUp(live, boardId)
  const { cards, total } = await live.documents.withDocument(boardId, async ({ document }) => {
    const order = await inTurns(cardOrder(document))
    let rawLeft: number = rawLimits.page
    const shown = await mapInTurns(order.slice(page.offset, page.offset + page.limit), (id) => {
      const shared = findCard(document, id)
      if (!shared) return [] // it was removed meanwhile
      const budget = { left: Math.min(rawLimits.card, rawLeft) }
      const raw = extras.raw ? readRaw(shared, budget) : undefined
      rawLeft -= Math.min(rawLimits.card, rawLeft) - Math.max(budget.left, 0)
      return [{ id, content: readContent(shared), raw }]
    })
    return { total: order.length, cards: shown.flat() }
  })
  const [times, contents] = await Promise.all([
    cardTimes(
      live.database,
      boardId,
      cards.map(({ id }) => id),
    ),
    live.html.contents(
      account,
      cards.map(({ content }) => content),
    ),
  ])
  return {
    total,
    cards: cards.map(({ id, raw }, at) =>
      presentCard(id, contents[at]!, times.get(id) ?? noTimes, { ...extras, raw }),
    ),
  }
}

/** Complete cards, in the order of `ids`. Cards that don't exist are left out. `raw` is included on request. */
export async function readCards(
  live: LiveBoards,
  boardId: string,
  ids: string[],
  account: string,
  extras: { raw: boolean } = { raw: false },
): Promise<PresentedCard[]> {
  await catchUp(live, boardId)
  const [cards, times] = await Promise.all([
    live.documents.withDocument(boardId, async ({ document }) => {
      const found = await mapInTurns(ids, (id) => {
        const shared = findCard(document, id)
        if (!shared) return []
        const raw = extras.raw ? readRaw(shared, { left: rawLimits.card }) : undefined
        return [{ id, content: readContent(shared), raw }]
      })
      return found.flat()
    }),
    cardTimes(live.database, boardId, ids),
  ])
  return presentAll(live, account, cards, (id) => times.get(id))
}

/** Presents cards as a write left them. */
export function presentWritten(
  live: LiveBoards,
  account: string,
  cards: { id: string; content: CardContent }[],
  written: Written,
): Promise<PresentedCard[]> {
  return presentAll(live, account, cards, (id) => {
    const { created, updated } = written.times.get(id) ?? { created: written.at, updated: written.at }
    return { created_at: new Date(created).toISOString(), updated_at: new Date(updated).toISOString() }
  })
}

/** Presents cards with all their fields, in the given order. */
export async function presentAll(
  live: LiveBoards,
  account: string,
  cards: { id: string; content: CardContent; raw?: Json | undefined }[],
  timesOf: (id: string) => CardTimes | undefined,
): Promise<PresentedCard[]> {
  const contents = await live.html.contents(
    account,
    cards.map(({ content }) => content),
  )
  return cards.map(({ id, raw }, at) =>
    presentCard(id, contents[at]!, timesOf(id) ?? noTimes, { ...wholeCard, raw }),
  )
}

/** Applies commits of other processes to a board that is in memory. Returns null when the board is not in memory. */
export async function catchUp(live: LiveBoards, boardId: string): Promise<BoardDocument | null> {
  const board = live.documents.find(boardId)
  if (!board) return null
  const [head] = await live.database.asSystem(
    (tx) => tx<{ seq: number }[]>`select seq from board_documents where board_id = ${boardId}`,
  )
  if (head) board.noticed(head.seq)
  await board.caughtUp()
  return board
}

const wholeCard = { props: true, identifiers: true }
const noTimes = { created_at: null, updated_at: null }

/** Creation and update times from the index. Cards that are not indexed yet are missing. */
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
