import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { excerptOf, foldQuery, type FoldedQuery } from '../../core/fold.ts'
import { limits } from '../../core/limits.ts'
import { presentBoard, readBoards, type BoardRow } from '../boards/board.ts'
import { cutPage, pageOf, type Page } from '../page.ts'
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
    let hits = await find(context, principal.userId, wanted, true)
    if (hits.pending.length > 0) {
      await context.indexForSearch(hits.pending)
      hits = await find(context, principal.userId, wanted, false)
    }
    const { page } = wanted
    const [boards, cards] = [cutPage(page, hits.boards), cutPage(page, hits.cards)]
    const found = await readFound(context, principal.userId, boards.shown)
    return {
      body: {
        query: q,
        boards: { items: found.map((row) => presentBoard(row)), ...boards.end },
        cards: { items: cards.shown.map((row) => presentHit(row, wanted)), ...cards.end },
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
  card_id: string
  board_id: string
  kind: string
  title: string | null
  body: string | null
  updated_at: Date
}

interface Hits {
  boards: string[]
  cards: CardRow[]
  /** Boards whose words are not all in the index: then nothing was looked for. */
  pending: string[]
}

/** One more of each than the page takes. `wait`: not before everything is in the index. */
async function find({ database }: ApiContext, userId: string, wanted: Wanted, wait: boolean): Promise<Hits> {
  const { kind, phrase, words, workspace, page } = wanted
  const rows = await database.search(
    (sql) => sql<(CardRow & { what: 'pending' | 'board' | 'card' })[]>`
      select what, board_id, card_id, kind, title, body, updated_at
      from search(
        ${userId}, ${kind !== 'card'}, ${kind !== 'board'}, ${phrase}, ${words}::text[], ${workspace}::uuid,
        ${candidates}, ${page.limit + 1}, ${page.offset}, ${wait}
      )`,
  )
  const of = (what: string) => rows.filter((row) => row.what === what)
  const boardIds = (what: string) => of(what).map((row) => row.board_id)
  return { boards: boardIds('board'), cards: of('card'), pending: boardIds('pending') }
}

/** In the order of their ids here. One that went into the trash meanwhile is left out. */
async function readFound({ database }: ApiContext, userId: string, ids: string[]): Promise<BoardRow[]> {
  if (ids.length === 0) return []
  const rows = await database.asUser(userId, (tx) => readBoards(tx, ids))
  return ids.flatMap((id) => rows.get(id) ?? []).filter((row) => !row.deleted)
}

function presentHit({ body, ...row }: CardRow, wanted: FoldedQuery) {
  return {
    id: row.card_id,
    board_id: row.board_id,
    kind: row.kind,
    title: row.title,
    excerpt: excerptOf(body ?? '', wanted, excerpt),
    updated_at: row.updated_at.toISOString(),
  }
}
