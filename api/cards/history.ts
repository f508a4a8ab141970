/** `GET /boards/{id}/cards/{cardId}/history`: the life of one card, also on the boards that it came from. */
import Type from 'typebox'
import { readHistory } from '../../collab/history/list.ts'
import type { EntryQuery } from '../../collab/history/entries.ts'
import type { Reader } from '../../collab/history/past.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { Database } from '../../sql/database.ts'
import {
  entryQueryOf,
  historyPage,
  historyQuery,
  presentEntries,
  type EntryOfBoard,
} from '../boards/history.ts'
import { pastReader } from '../boards/past.ts'
import { route, type ApiContext } from '../http/route.ts'
import { cardParams, uuidPattern } from '../http/schemas.ts'

/** Where the walk goes on: on a board, before a place and a time. */
interface Step {
  boardId: string
  before: { seq: number; index: number } | null
  until: number
  /** The operation that moved the card away from this board. It was told on the other board. */
  move: string
}

/** Most boards that one page follows a card to. The next page goes on. */
const boardsPerPage = 10

export const listCardHistory = route('GET /boards/:id/cards/:cardId/history', 'read', {
  summary: 'List the changes of a card, newest first.',
  description:
    'It follows the card to the boards that it was moved from, as far as you may see their history. A card that was removed has its history, too.',
  schemas: { params: cardParams, query: Type.Object(historyQuery) },
  answers: { 200: historyPage },
  refuses: ['forbidden'],
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const { limit, until, ...asked } = entryQueryOf(query)
    const reader = await pastReader(context.database, principal.userId, params.id)
    const first = stepOf(params.id, query.cursor, until)
    const walk = { ...asked, limit, card: params.cardId }
    const { entries, next, firstAt } = await followCard(context, reader, first, walk)
    return {
      body: {
        board_id: params.id,
        entries: await presentEntries(context.database, reader, entries),
        kept_since: new Date(firstAt).toISOString(),
        limit,
        has_more: next !== null,
        next_cursor: next && cursorOf(next),
      },
    }
  },
})

/** Reads a page of a card's life: on a board, then on the board that it was moved from, and so on. */
async function followCard(
  { database, live }: ApiContext,
  reader: Reader,
  first: Step,
  { limit, ...query }: Omit<EntryQuery, 'before' | 'until'>,
): Promise<{ entries: EntryOfBoard[]; next: Step | null; firstAt: number }> {
  const entries: EntryOfBoard[] = []
  let step: Step | null = first
  let firstAt = live.history.clock.now()
  for (let boards = 0; step && entries.length < limit && boards < boardsPerPage; boards++) {
    const here: Step = step
    const readerHere = await readerOf(database, reader, here)
    if (!readerHere) return { entries, next: null, firstAt }
    const { boardId, before, until, move } = here
    const left = { ...query, before, until, limit: limit - entries.length }
    const page = await readHistory(live, boardId, left, readerHere)
    firstAt = Math.min(firstAt, page.firstAt)
    for (const entry of page.entries) if (!move || entry.op !== move) entries.push({ ...entry, boardId })
    if (page.next) return { entries, next: { ...here, before: page.next }, firstAt }
    const last = page.entries.at(-1)
    const from = last?.by === 'move' && last.counts.added > 0 ? last.other : undefined
    step = last && from ? { boardId: from, before: null, until: last.at, move: last.op ?? '' } : null
    // A cursor must not name a board that the caller can't see.
    if (step && !(await readerOf(database, reader, step))) step = null
  }
  return { entries, next: step, firstAt }
}

/** Null for a board whose history the caller can't see: the card's life there is not shown. */
async function readerOf(database: Database, { account }: Reader, { boardId }: Step): Promise<Reader | null> {
  try {
    return await pastReader(database, account, boardId)
  } catch (error) {
    if (error instanceof ServiceError && ['forbidden', 'not_found'].includes(error.code)) return null
    throw error
  }
}

const cursorOf = ({ boardId, before, until, move }: Step) =>
  `${boardId}|${before ? `${before.seq}.${before.index}` : ''}|${until}|${move}`

function stepOf(boardId: string, cursor: string | undefined, until: number): Step {
  if (cursor === undefined) return { boardId, before: null, until, move: '' }
  const [of = '', place = '', time = '', move = ''] = cursor.split('|')
  const [, seq, index] = /^(\d{1,15})\.(\d{1,9})$/.exec(place) ?? []
  if (!uuidPattern.test(of) || !/^\d{1,16}$/.test(time) || (place !== '' && seq === undefined))
    throw badRequest('cursor must be next_cursor of an earlier page of this card’s history.')
  const before = seq === undefined ? null : { seq: Number(seq), index: Number(index) }
  return { boardId: of.toLowerCase(), before, until: Number(time), move }
}
