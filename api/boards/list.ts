import Type from 'typebox'
import { id, list, oneOf, text } from '../http/vocabulary.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import { since } from '../http/feed.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import { cutPage, includeOf, pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { Board, cursor, feedAnswer, offsetPage, pageQuery, uuidPattern } from '../http/schemas.ts'
import { boardPage, type BoardPage } from './board-page.ts'
import { presentBoard } from './board.ts'
import { readBoardFeed } from './feed.ts'
import { requireFilter } from './require-filter.ts'

const query = Type.Object({
  workspace: Type.Optional(id('Only boards of this workspace.')),
  parent: Type.Optional(
    text('Only boards directly below this one, by its id; or `root`: only top-level boards.'),
  ),
  deleted: Type.Optional(
    oneOf(
      ['1', '0'],
      '`1`: list the trash instead of live boards. With `since`: list both, and show each board’s parent even when that is in the trash.',
    ),
  ),
  since,
  cursor,
  include: Type.Optional(text('Which fields to add to each board: a comma list of `props`, `identifiers`.')),
  ...pageQuery,
})

const boards = list(Board, 'The boards of this page.')

/**
 * Lists and trees of boards that are read, or wait for it. A page far out reads all boards before it, of which an account may
 * have a million, and a tree has 50,000. So an account reads few at once, and all together leave connections to other
 * requests.
 */
export const boardLists = new FairQueue({
  ...{ atOnce: 8, atOncePerAccount: 2 },
  ...{ waiting: 1000, waitingPerAccount: 100 },
})
const turnMs = 5000

export const listBoards = route('GET /boards', 'read', {
  refuses: ['not_found'],
  summary: 'List boards, or follow their changes.',
  description:
    'Without `since` or `cursor`: boards by the time of their creation, in pages by `offset`. With one of them: a change feed, in pages by `cursor`.',
  schemas: { query },
  answers: {
    200: Type.Union([offsetPage({ boards }), Type.Object({ boards, ...feedAnswer })]),
  },
  async handle({ database }, { principal, query }) {
    const include = includeOf(query.include, ['props', 'identifiers'])
    const page = pageOf(query)
    const read = <T>(work: (tx: Transaction) => Promise<T>) => readInTurn(database, principal.userId, work)
    const { parent } = query
    if (parent !== undefined && parent !== 'root' && !uuidPattern.test(parent)) {
      throw badRequest('parent must be a board id or `root`.')
    }
    const trash = query.deleted === '1'
    if (query.since !== undefined || query.cursor !== undefined) {
      const feed = { ...query, include, trash, limit: page.limit }
      return read(async (tx) => {
        const answer = await readBoardFeed(tx, feed)
        if (answer.boards.length === 0) await requireFilter(tx, filterOf(query))
        return { body: answer }
      })
    }
    const rows = await read(async (tx) => {
      const boards = await boardList(tx, { ...query, trash, limit: page.limit + 1, offset: page.offset })
      if (boards.length === 0) await requireFilter(tx, filterOf(query))
      return boards
    })
    const { shown, end } = cutPage(page, rows)
    return { body: { boards: shown.map((row) => presentBoard(row, include)), ...end } }
  },
})

/** @throws ServiceError `storage_unavailable` when the turn does not come in time; what `work` throws */
export async function readInTurn<T>(
  database: Database,
  userId: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(turnMs)
  const end = await boardLists.take(userId, { signal }).catch((error: unknown) => {
    if (!signal.aborted && !(error instanceof QueueFull)) throw error
    throw new ServiceError(
      'storage_unavailable',
      'Too many lists and trees of boards are being read. Send fewer at the same time. Try again in a few seconds.',
      { cause: error },
    )
  })
  try {
    return await database.asUser(userId, work)
  } finally {
    end()
  }
}

const filterOf = ({ workspace, parent }: { workspace?: string; parent?: string }) => ({
  workspace,
  board: parent === 'root' ? undefined : parent,
})

/** Boards in the order of their creation. */
export const boardList = (
  tx: Transaction,
  { trash, ...page }: Pick<BoardPage, 'workspace' | 'parent' | 'limit' | 'offset'> & { trash: boolean },
) =>
  boardPage(tx, {
    ...page,
    order: 'created_at',
    condition: trash ? tx`b.deleted_at is not null` : tx`b.deleted_at is null`,
    trashedParents: trash,
  })
