import { setImmediate } from 'node:timers/promises'
import Type from 'typebox'
import { id, list, named, nullable, object, oneOf, text } from '../http/vocabulary.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { excerptOf, foldQuery, type FoldedQuery } from '../../core/fold.ts'
import { limits } from '../../core/limits.ts'
import { sessionText } from '../../sql/database.ts'
import { QueueFull } from '../../platform/work/fair-queue.ts'
import { presentBoard, readBoards, type BoardRow } from '../boards/board.ts'
import { requireFilter } from '../boards/require-filter.ts'
import { cutPage, pageOf, type Page } from '../http/page.ts'
import { route, type ApiContext } from '../http/route.ts'
import { Board, boardId, cardId, pageAnswer, pageQuery, updatedAt } from '../http/schemas.ts'

const { excerpt, candidates, newestCards, catchUpMs, timeoutMs, query: queryLength } = limits.search

const query = Type.Object({
  q: text(
    `The words to search for, ${queryLength.min} to ${queryLength.max} characters. Results contain all of them. Case and accents are ignored.`,
    { minLength: queryLength.min, maxLength: queryLength.max },
  ),
  kind: Type.Optional(
    oneOf(['board', 'card'], 'Search only boards, or only cards. The list of the other kind is empty.'),
  ),
  workspace: Type.Optional(id('Search only this workspace.')),
  ...pageQuery,
})

const cardHit = named('CardHit', 'A card that matches a search.', {
  id: cardId,
  board_id: boardId,
  kind: text('Kind of the card.'),
  title: nullable(text('Title of the card.')),
  excerpt: text(`Up to ${excerpt} characters of the body. A match in the body is within the excerpt.`),
  updated_at: updatedAt,
})

export const search = route('GET /search', 'read', {
  refuses: ['not_found'],
  summary: 'Search boards by name and cards by title and body, best match first.',
  description: `If more than ${candidates} cards match, only these are ranked: cards whose title begins with the query, matches among the newest ${newestCards.toLocaleString('en')} cards, and ${candidates} other matches.`,
  schemas: { query },
  answers: {
    200: Type.Object({
      query: text('The query, without spaces at both ends.'),
      boards: object('Boards that match.', { items: list(Board, 'The boards of this page.'), ...pageAnswer }),
      cards: object('Cards that match.', { items: list(cardHit, 'The cards of this page.'), ...pageAnswer }),
    }),
  },
  async handle(context, { principal, query }) {
    if (query.q.includes('\0')) throw badRequest('q must not contain U+0000.')
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
      throw badRequest(`q must have at least ${queryLength.min} characters.`)
    }
    const account = principal.userId
    const search = (wait: boolean) =>
      inTurn(context, account, async () => {
        const hits = await find(context, account, wanted, wait)
        return { ...hits, cards: await presentHits(hits.cards, wanted) }
      })
    let hits = await search(true)
    if (hits.pending.own.length + hits.pending.others.length > 0) {
      await Promise.all([
        context.indexForSearch(hits.pending.own, { account, timeoutMs: catchUpMs.own }),
        context.indexForSearch(hits.pending.others, { account, timeoutMs: catchUpMs.others }),
      ])
      hits = await search(false)
    }
    if (hits.boards.length + hits.cards.length === 0 && query.workspace !== undefined)
      await context.database.asUser(principal.userId, (tx) => requireFilter(tx, query))
    const { page } = wanted
    const [boards, cards] = [cutPage(page, hits.boards), cutPage(page, hits.cards)]
    const found = await readFound(context, account, boards.shown)
    return {
      body: {
        query: q,
        boards: {
          items: found.map((row) => presentBoard(row, { props: false, identifiers: false })),
          ...boards.end,
        },
        cards: { items: cards.shown, ...cards.end },
      },
    }
  },
})

/** Queues a search fairly among accounts. @throws ServiceError `storage_unavailable` when it waits too long */
async function inTurn<T>({ searches }: ApiContext, account: string, work: () => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs)
  let started = false
  try {
    return await searches.run(account, () => ((started = true), work()), { signal })
  } catch (error) {
    if (started) throw error
    const message =
      error instanceof QueueFull
        ? 'Too many searches are waiting. Send fewer at the same time. Try again in a few seconds.'
        : 'The search waited too long in the queue. Send fewer at the same time. Try again in a few seconds.'
    throw new ServiceError('storage_unavailable', message, { cause: error })
  }
}

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
  /**
   * Boards that are not fully indexed yet: in the account's own workspaces, and in others. If there are any, and `wait` is
   * set, no search was made.
   */
  pending: { own: string[]; others: string[] }
}

/**
 * Searches. Returns one more result of each kind than the page has. An argument of the function sets the session in
 * which the account acts, because a search is one statement. Arguments are evaluated before the function.
 *
 * @param wait don't search, but return `pending`, while boards are not fully indexed
 */
async function find({ database }: ApiContext, userId: string, wanted: Wanted, wait: boolean): Promise<Hits> {
  const { kind, phrase, words, workspace, page } = wanted
  const rows = await database.search(
    (sql) => sql<(CardRow & { what: 'pending' | 'board' | 'card' })[]>`
      select what, board_id, card_id, kind, title, body, updated_at
      from search(
        case when set_config('corkboard.session', ${sessionText(userId)}, true) is not null then ${userId}::uuid end,
        ${kind !== 'card'}, ${kind !== 'board'}, ${phrase}, ${words}::text[], ${workspace}::uuid,
        ${candidates}, ${page.limit + 1}, ${page.offset}, ${wait}
      )`,
  )
  const of = (what: string) => rows.filter((row) => row.what === what)
  const boardIds = (boards: CardRow[]) => boards.map((row) => row.board_id)
  const pending = Object.groupBy(of('pending'), ({ kind }) => (kind === 'own' ? 'own' : 'others'))
  return {
    boards: boardIds(of('board')),
    cards: of('card'),
    pending: { own: boardIds(pending.own ?? []), others: boardIds(pending.others ?? []) },
  }
}

/** The boards in the order of `ids`, without those that were deleted meanwhile. */
async function readFound({ database }: ApiContext, userId: string, ids: string[]): Promise<BoardRow[]> {
  if (ids.length === 0) return []
  const rows = await database.asUser(userId, (tx) => readBoards(tx, ids))
  return ids.flatMap((id) => rows.get(id) ?? []).filter((row) => !row.deleted)
}

/** An excerpt of a long body takes up to 20 ms, so the event loop runs other work between two of them. */
async function presentHits(rows: CardRow[], wanted: FoldedQuery) {
  const hits: ReturnType<typeof presentHit>[] = []
  for (const row of rows) {
    hits.push(presentHit(row, wanted))
    if ((row.body?.length ?? 0) > 2000) await setImmediate()
  }
  return hits
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
