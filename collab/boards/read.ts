/** Reads cards from a board's document, for the API. */
import type * as Y from 'yjs'
import { presentCard, type CardTimes, type VersionedCard } from '../../core/card.ts'
import { mapInTurns } from '../../platform/work/loop-turn.ts'
import type { Database } from '../../sql/database.ts'
import type { Written } from '../commit/write-request.ts'
import { currentOrder } from './card-order.ts'
import { findCard, rawReader } from '../canvas/canvas.ts'
import type { BoardDocument } from '../documents/document.ts'
import { caughtUpSoon } from '../documents/reach.ts'
import { readCard } from '../canvas/project.ts'
import type { LiveBoards } from './live.ts'

export type PresentedCard = Record<string, unknown>

export type Extras = Record<'props' | 'identifiers' | 'raw', boolean>

type Times = ReadonlyMap<string, CardTimes>

/** `raw`: the card as the canvas stores it; undefined when not requested. */
type ShownCard = VersionedCard & { raw?: unknown }

const rawPageChars = 64 * 1024 * 1024

/** A page of a board's cards, sorted by `z`, then id. */
export async function readPage(
  live: LiveBoards,
  boardId: string,
  page: { limit: number; offset: number },
  extras: Extras,
  account: string,
): Promise<{ cards: PresentedCard[]; total: number }> {
  await catchUp(live, boardId)
  const { cards, total } = await live.documents.withDocument(boardId, ({ document }) =>
    readPageOf(document, page, extras),
  )
  const times = cardTimes(
    live.database,
    boardId,
    cards.map(({ id }) => id),
  )
  return { total, cards: await presentAll(live, account, cards, times, extras) }
}

/** A page of a document's cards, sorted by `z`, then id. */
export async function readPageOf(
  document: Y.Doc,
  page: { limit: number; offset: number },
  extras: Extras,
): Promise<{ cards: ShownCard[]; total: number }> {
  const order = await currentOrder(document)
  const ids = order.slice(page.offset, page.offset + page.limit)
  return { total: order.length, cards: await readAll(document, ids, extras.raw && rawReader(rawPageChars)) }
}

/** Complete cards, in the order of `ids`. Cards that don't exist are left out. `raw` is included on request. */
export async function readCards(
  live: LiveBoards,
  boardId: string,
  ids: string[],
  account: string,
  { raw }: { raw: boolean } = { raw: false },
): Promise<PresentedCard[]> {
  await catchUp(live, boardId)
  const [cards, times] = await Promise.all([
    live.documents.withDocument(boardId, ({ document }) => readAll(document, ids, raw && rawReader())),
    cardTimes(live.database, boardId, ids),
  ])
  return presentAll(live, account, cards, times)
}

/** Reads the cards that exist. */
async function readAll(
  document: Y.Doc,
  ids: string[],
  readRaw: ReturnType<typeof rawReader> | false,
): Promise<ShownCard[]> {
  const cards = await mapInTurns(ids, (id) => {
    const shared = findCard(document, id)
    return shared ? [{ ...readCard(id, shared), raw: readRaw ? readRaw(shared) : undefined }] : []
  })
  return cards.flat()
}

/** Presents cards as a write left them. */
export function presentWritten(
  live: LiveBoards,
  account: string,
  cards: VersionedCard[],
  { at, times }: Written,
): Promise<PresentedCard[]> {
  const timesOf = ({ created, updated }: { created: number; updated: number }): CardTimes => ({
    created_at: new Date(created).toISOString(),
    updated_at: new Date(updated).toISOString(),
  })
  const ofNew = timesOf({ created: at, updated: at })
  const shown = cards.map(({ id }): [string, CardTimes] => {
    const known = times.get(id)
    return [id, known ? timesOf(known) : ofNew]
  })
  return presentAll(live, account, cards, new Map(shown))
}

/** Presents cards in the given order; by default with all their fields. */
export async function presentAll(
  live: LiveBoards,
  account: string,
  cards: ShownCard[],
  times: Times | Promise<Times>,
  extras: Pick<Extras, 'props' | 'identifiers'> = { props: true, identifiers: true },
): Promise<PresentedCard[]> {
  const [timesOf, contents] = await Promise.all([
    times,
    live.html.contents(
      account,
      cards.map(({ content }) => content),
    ),
  ])
  return cards.map(({ id, version, raw }, at) =>
    presentCard({ id, content: contents[at]!, version }, timesOf.get(id) ?? noTimes, { ...extras, raw }),
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
  await caughtUpSoon(board)
  return board
}

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
    rows.map(({ card_id, created_at, updated_at }) => [
      card_id,
      { created_at: created_at.toISOString(), updated_at: updated_at.toISOString() },
    ]),
  )
}
