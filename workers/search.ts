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

/** Cards that are indexed in one transaction: about 100 ms. */
const batchCards = 250
/** Whoever indexes a board holds this lock on it, so that older words never go over newer ones. */
const boardLock = 1129270349

export function searchIndexer(database: Database): SearchIndexer {
  const indexNext = (boardIds: string[] | null) =>
    database.asSystem(async (tx): Promise<'done' | 'busy' | 'idle'> => {
      const [next] = await tx<{ board_id: string; locked: boolean }[]>`
        select board_id, pg_try_advisory_xact_lock(${boardLock}, hashtext(board_id::text)) as locked
        from (
          select board_id from search_pending
          where ${boardIds === null ? tx`true` : tx`board_id = any (${boardIds}::uuid[])`}
          order by id
          limit 1
        ) p`
      if (!next) return 'idle'
      if (!next.locked) return 'busy'
      await indexBoard(tx, next.board_id)
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

/** Takes what is pending on a board, up to a batch; what is more stays pending. */
async function indexBoard(tx: Transaction, boardId: string): Promise<void> {
  // Whoever waited for the lock sees here what the one before has done.
  const taken = await tx<{ workspace_id: string; changed_at: string; after: string }[]>`
    delete from search_pending where board_id = ${boardId}
    returning workspace_id, changed_at::text, after`
  if (taken.length === 0) return
  const { workspace_id: workspaceId } = taken[0]!
  const [start] = await tx<{ changed_at: string; after: string }[]>`
    select changed_at::text, after
    from unnest(${taken.map((row) => row.changed_at)}::text[]::timestamptz[], ${taken.map((row) => row.after)}::text[])
      as p(changed_at, after)
    order by p.changed_at, p.after
    limit 1`
  const [board] = await tx<{ name: string; changed_at: string }[]>`
    select name, updated_at::text as changed_at from boards where id = ${boardId}`
  if (!board) {
    await tx`delete from search_index where board_id = ${boardId}`
    return
  }
  const cards = await tx<
    { card_id: string; title: string; body: string; gone: boolean; changed_at: string }[]
  >`
    select card_id, coalesce(title, '') as title, coalesce(body, '') as body, deleted_at is not null as gone,
      updated_at::text as changed_at
    from card_index
    where board_id = ${boardId} and (updated_at, card_id) > (${start!.changed_at}::text::timestamptz, ${start!.after})
    order by updated_at, card_id
    limit ${batchCards}`
  const gone = cards.filter((card) => card.gone).map((card) => card.card_id)
  const live = cards.filter((card) => !card.gone)
  if (gone.length > 0)
    await tx`delete from search_index where board_id = ${boardId} and card_id = any (${gone}::text[])`
  await tx`
    insert into search_index as s (board_id, card_id, workspace_id, title, body, changed_at)
    select ${boardId}::uuid, c.id, ${workspaceId}::uuid, c.title, c.body, c.changed_at
    from unnest(
      ${['', ...live.map((card) => card.card_id)]}::text[],
      ${[fold(board.name), ...live.map((card) => fold(card.title))]}::text[],
      ${['', ...live.map((card) => fold(card.body))]}::text[],
      ${[board.changed_at, ...live.map((card) => card.changed_at)]}::text[]::timestamptz[]
    ) as c(id, title, body, changed_at)
    on conflict (board_id, card_id) do update
    set title = excluded.title, body = excluded.body, changed_at = excluded.changed_at
    where s.title <> excluded.title or s.body <> excluded.body`
  if (cards.length === batchCards) {
    const last = cards.at(-1)!
    await tx`
      insert into search_pending (board_id, workspace_id, changed_at, after)
      values (${boardId}, ${workspaceId}, ${last.changed_at}::text::timestamptz, ${last.card_id})`
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
