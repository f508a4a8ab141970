/**
 * Keeps the search index: takes what `search_pending` says and writes the folded words of cards and boards. A search
 * that finds its own boards pending has them done first, so that what a request wrote is found by the next one.
 */
import { fold } from '../core/fold.ts'
import type { Logger } from '../platform/log.ts'
import type { Database, Transaction } from '../sql/database.ts'
import { startLoop, type Loop } from './loop.ts'

export interface SearchIndexer {
  /** Works off what is pending on these boards; for no longer than `timeoutMs`. */
  catchUp(boardIds: string[], timeoutMs: number): Promise<void>
  /** Works off what is pending, every second. */
  start(log: Logger): Loop
}

/** What is indexed in one transaction: about 100 ms. Of several boards each has its share of the cards. */
const batchCards = 250
const batchBoards = 50
/** Whoever indexes a board holds this lock on it, so that older words never go over newer ones. */
const boardLock = 1129270349

export function searchIndexer(database: Database): SearchIndexer {
  const indexNext = (boardIds: string[] | null) =>
    database.asSystem(async (tx): Promise<'done' | 'busy' | 'idle'> => {
      const next = await tx<{ board_id: string; locked: boolean }[]>`
        select board_id, pg_try_advisory_xact_lock(${boardLock}, hashtext(board_id::text)) as locked
        from (
          select board_id
          from (
            select id, board_id
            from search_pending
            where ${boardIds === null ? tx`true` : tx`board_id = any (${boardIds}::uuid[])`}
            order by id
            limit ${batchBoards}
          ) p
          group by board_id
          order by min(id)
        ) p`
      if (next.length === 0) return 'idle'
      const free = next.filter(({ locked }) => locked).map((row) => row.board_id)
      if (free.length === 0) return 'busy'
      await indexBoards(tx, free)
      return 'done'
    })

  return {
    async catchUp(boardIds, timeoutMs) {
      const deadline = performance.now() + timeoutMs
      for (;;) {
        const state = await indexNext(boardIds)
        if (state === 'idle' || performance.now() > deadline) return
        if (state === 'busy') await pause(20)
      }
    },
    start(log) {
      const stopping = new AbortController()
      const loop = startLoop('search', 1000, log, async () => {
        // As much rest as work: what is pending can wait, and commits need the database as well.
        for (let state = 'done'; state === 'done' && !stopping.signal.aborted;) {
          const startMs = performance.now()
          state = await indexNext(null)
          if (state === 'done') await pause(performance.now() - startMs)
        }
      })
      return {
        stop() {
          stopping.abort()
          return loop.stop()
        },
      }
    },
  }
}

interface Pending {
  board_id: string
  workspace_id: string
  changed_at: string
  after: string
}

interface IndexedCard {
  board_id: string
  card_id: string
  title: string
  body: string
  gone: boolean
  changed_at: string
}

/** Takes what is pending on these boards, up to a batch; what is more stays pending. */
async function indexBoards(tx: Transaction, boardIds: string[]): Promise<void> {
  // Whoever waited for the lock sees here what the one before has done.
  const taken = await tx<Pending[]>`
    with taken as (delete from search_pending where board_id = any (${boardIds}::uuid[]) returning *)
    select distinct on (board_id) board_id, workspace_id, changed_at::text, after
    from taken
    order by board_id, changed_at, after`
  if (taken.length === 0) return
  const takenIds = taken.map((row) => row.board_id)
  const boards = await tx<{ id: string; name: string; changed_at: string }[]>`
    select id, name, updated_at::text as changed_at from boards where id = any (${takenIds}::uuid[])`
  const share = Math.floor(batchCards / taken.length)
  const cards = await tx<IndexedCard[]>`
    select c.*
    from unnest(${takenIds}::uuid[], ${taken.map((row) => row.changed_at)}::text[]::timestamptz[], ${taken.map((row) => row.after)}::text[])
      as p(board_id, changed_at, after)
    cross join lateral (
      select c.board_id, c.card_id, coalesce(c.title, '') as title, coalesce(c.body, '') as body, c.deleted_at is not null as gone,
        c.updated_at::text as changed_at
      from card_index c
      where c.board_id = p.board_id and (c.updated_at, c.card_id) > (p.changed_at, p.after)
      order by c.updated_at, c.card_id
      limit ${share}
    ) c`

  const known = new Set(boards.map(({ id }) => id))
  const goneBoards = takenIds.filter((id) => !known.has(id))
  if (goneBoards.length > 0) await tx`delete from search_index where board_id = any (${goneBoards}::uuid[])`
  const gone = cards.filter((card) => card.gone)
  if (gone.length > 0)
    await tx`
      delete from search_index s
      using unnest(${gone.map((card) => card.board_id)}::uuid[], ${gone.map((card) => card.card_id)}::text[]) as c(board_id, id)
      where s.board_id = c.board_id and s.card_id = c.id`
  const words = [
    ...boards.map(({ id, name, changed_at }) => ({ board: id, card: '', title: name, body: '', changed_at })),
    ...cards
      .filter((card) => !card.gone && known.has(card.board_id))
      .map(({ board_id, card_id, ...card }) => ({ board: board_id, card: card_id, ...card })),
  ]
  const workspaces = new Map(taken.map((row) => [row.board_id, row.workspace_id]))
  await tx`
    insert into search_index as s (board_id, card_id, workspace_id, title, body, changed_at)
    select *
    from unnest(
      ${words.map(({ board }) => board)}::uuid[],
      ${words.map(({ card }) => card)}::text[],
      ${words.map(({ board }) => workspaces.get(board)!)}::uuid[],
      ${words.map(({ title }) => fold(title))}::text[],
      ${words.map(({ body }) => fold(body))}::text[],
      ${words.map(({ changed_at }) => changed_at)}::text[]::timestamptz[]
    )
    on conflict (board_id, card_id) do update
    set title = excluded.title, body = excluded.body, changed_at = excluded.changed_at
    where s.title <> excluded.title or s.body <> excluded.body`

  const more = [...Map.groupBy(cards, (card) => card.board_id).values()]
    .filter((ofBoard) => ofBoard.length === share)
    .map((ofBoard) => ofBoard.at(-1)!)
  if (more.length > 0)
    await tx`
      insert into search_pending (board_id, workspace_id, changed_at, after)
      select *
      from unnest(
        ${more.map((card) => card.board_id)}::uuid[],
        ${more.map((card) => workspaces.get(card.board_id)!)}::uuid[],
        ${more.map((card) => card.changed_at)}::text[]::timestamptz[],
        ${more.map((card) => card.card_id)}::text[]
      )`
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
