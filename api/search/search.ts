import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { excerptOf, foldQuery, type FoldedQuery } from '../../core/fold.ts'
import { limits } from '../../core/limits.ts'
import type { Transaction } from '../../sql/database.ts'
import { boardColumns, boardsWithParent, presentBoard, type BoardRow } from '../boards/board.ts'
import { pageEnd, pageOf, type Page } from '../page.ts'
import { route, type ApiContext } from '../route.ts'
import { boardAnswer, nullable, pageAnswer, pageQuery, timestamp, uuid } from '../schemas.ts'

const { excerpt, candidates, query: queryLength } = limits.search

const query = Type.Object({
  q: Type.String({
    minLength: queryLength.min,
    maxLength: queryLength.max,
    description: `At least ${queryLength.min} characters after trimming, at most ${queryLength.max}. What contains all of its words, case and accents aside, is found.`,
  }),
  kind: Type.Optional(Type.Enum(['board', 'card'], { description: 'Of the other kind the page is empty.' })),
  workspace: Type.Optional(uuid),
  ...pageQuery,
})

const cardHit = Type.Object({
  id: Type.String(),
  board_id: uuid,
  kind: Type.String(),
  title: nullable(Type.String()),
  excerpt: Type.String({
    description: `At most ${excerpt} characters of the body, around the match where the body has it.`,
  }),
  updated_at: timestamp,
})

export const search = route({
  method: 'GET',
  path: '/search',
  scope: 'read',
  summary: `Search boards by name and cards by title and body, best match first. Of what more than ${candidates} match, those whose title begins with the query, the matches among the newest 10,000 cards, and ${candidates} others are ranked.`,
  schemas: { query },
  answers: {
    200: Type.Object({
      query: Type.String(),
      boards: Type.Object({ items: Type.Array(boardAnswer), ...pageAnswer }),
      cards: Type.Object({ items: Type.Array(cardHit), ...pageAnswer }),
    }),
  },
  async handle(context, { principal, query }) {
    if (query.q.includes('\0')) throw new ServiceError('bad_request', 'q must not hold U+0000.')
    const q = query.q.trim()
    const wanted: Wanted = {
      ...foldQuery(q),
      kind: query.kind,
      workspace: query.workspace ?? null,
      page: pageOf(query),
    }
    if (
      Array.from(q.normalize('NFC')).length < queryLength.min ||
      Array.from(wanted.phrase).length < queryLength.min
    ) {
      throw new ServiceError('bad_request', `q must have at least ${queryLength.min} characters.`)
    }
    let hits = await searchOnce(context, principal.userId, wanted)
    if (hits.waiting.length > 0) {
      await context.indexForSearch(hits.waiting)
      hits = await searchOnce(context, principal.userId, wanted)
    }
    const { page } = wanted
    const end = (rows: unknown[]) => pageEnd(page, rows.length)
    return {
      body: {
        query: q,
        boards: {
          items: hits.boards.slice(0, page.limit).map((row) => presentBoard(row)),
          ...end(hits.boards),
        },
        cards: {
          items: hits.cards.slice(0, page.limit).map((row) => presentHit(row, wanted)),
          ...end(hits.cards),
        },
      },
    }
  },
})

interface Wanted extends FoldedQuery {
  kind: 'board' | 'card' | undefined
  workspace: string | null
  page: Page
}

interface CardRow {
  id: string
  board_id: string
  kind: string
  title: string | null
  body: string | null
  updated_at: Date
}

interface Hits {
  boards: BoardRow[]
  cards: CardRow[]
  /** Boards whose words are not all in the index. */
  waiting: string[]
}

/** What is found is read under the policies of the caller, row by row: few rows of large tables. */
function searchOnce({ database }: ApiContext, userId: string, wanted: Wanted): Promise<Hits> {
  const { kind, phrase, words, workspace, page } = wanted
  const hits = (tx: Transaction, cards: boolean) => tx`
    search_hits(
      ${cards}, ${phrase}, ${words}::text[], ${workspace}::uuid, ${candidates}, ${page.limit + 1}, ${page.offset}
    ) with ordinality as h(board_id, card_id, place)`
  return database.asUser(userId, async (tx) => {
    const [[first], boards, cards] = await Promise.all([
      tx<{ waiting: string[] }[]>`
        select set_config('statement_timeout', ${String(limits.search.timeoutMs)}, true),
          array(select search_waits(${workspace}::uuid)) as waiting`,
      kind === 'card'
        ? []
        : tx<BoardRow[]>`
            select b.*
            from ${hits(tx, false)}
            cross join lateral (
              select ${boardColumns(tx)} from ${boardsWithParent(tx)} where b.id = h.board_id offset 0
            ) b
            order by h.place`,
      kind === 'board'
        ? []
        : tx<CardRow[]>`
            select c.*
            from ${hits(tx, true)}
            cross join lateral (
              select c.card_id as id, c.board_id, c.kind, c.title, c.body, c.updated_at
              from card_index c
              where c.board_id = h.board_id and c.card_id = h.card_id and c.deleted_at is null
              offset 0
            ) c
            order by h.place`,
    ])
    return { boards: [...boards], cards: [...cards], waiting: first!.waiting }
  })
}

function presentHit({ body, ...row }: CardRow, wanted: FoldedQuery) {
  return {
    id: row.id,
    board_id: row.board_id,
    kind: row.kind,
    title: row.title,
    excerpt: excerptOf(body ?? '', wanted, excerpt),
    updated_at: row.updated_at.toISOString(),
  }
}
