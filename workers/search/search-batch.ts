/**
 * The statements of the search indexer. A batch is read in one transaction. Its texts are then read, folded and written
 * in parts; folding runs outside of any transaction.
 *
 * A board counts as indexed when the `search_pending` rows that the batch read are deleted. Before a part is written,
 * these rows are locked, and all of them must still exist. So an old text never overwrites a newer one by another
 * process, because that process has deleted the rows.
 */
import { setImmediate } from 'node:timers/promises'
import { fold } from '../../core/fold.ts'
import type { Transaction } from '../../sql/database.ts'

/** A board in a batch. */
export interface PendingBoard {
  readonly id: string
  readonly workspaceId: string
  /** The owner of the workspace. */
  readonly account: string
  /** The ids of its rows in `search_pending`. */
  readonly rows: number[]
  /** Where the next batch continues; null when this one reaches the end. */
  readonly next: Position | null
  /** Entries of the batch that are not written yet. */
  left: number
  /** Whether another process has indexed the batch, or a part of it. */
  isTaken: boolean
}

/** A position after the card with this time and id. */
interface Position {
  changedAt: string
  after: string
}

/** A card, or the name of a board, whose words are written to the index or deleted from it. */
export interface Entry {
  readonly board: PendingBoard
  /** The id of the card; '' for the name of the board. */
  readonly cardId: string
  readonly changedAt: string
  readonly gone: boolean
  /** Bytes of its texts before folding. */
  readonly bytes: number
  /** Which version of it has been set aside, because it could not be indexed. */
  readonly setAside: 'this version' | 'an earlier version' | null
}

/** Limits of one transaction. It takes at most about 300 ms of PostgreSQL's time, or 500 ms for a single card. */
const batchCards = 250
const batchBoards = 50
/** Bytes of the texts before folding. The last card may exceed the limit. */
const batchBytes = 64 * 1024
/** Index rows of a deleted board that are deleted at once. */
const goneRows = 5000
/** Rows of `search_pending` that one batch reads for a board. Their ids are assigned just before their commit. */
const pendingRows = 1000
/**
 * The statement timeout is far more than any valid entry needs. The lock timeout is much shorter. So a statement
 * timeout is always caused by the entries themselves.
 */
const [statementTimeoutMs, lockTimeoutMs] = [10_000, 2000]

export interface BatchRequest {
  /** The boards to index; null for all. */
  boardIds: string[] | null
  except: string[]
  /** The account that was served last in the previous batch. */
  lastAccount: string
}

interface Batch {
  entries: Entry[]
  lastAccount: string
  /** Boards that have anything pending, also those that had no space; null when there may be more. */
  pending: string[] | null
}

/** Reads the next pending batch. Accounts take turns: the first card of each, then the second of each. */
export async function readBatch(tx: Transaction, request: BatchRequest): Promise<Batch> {
  const boards = await pendingBoards(tx, request)
  const pending = boards.length < batchBoards ? boards.map((board) => board.board_id) : null
  if (boards.length === 0) return { entries: [], lastAccount: request.lastAccount, pending }
  const share = Math.floor(batchCards / boards.length)
  const cards = await pendingCards(tx, boards, share)

  const cardsOf = Map.groupBy(cards, (card) => card.board_id)
  const boardsOf = Map.groupBy(boards, (board) => board.account)
  const queued = inTurns(
    [...boardsOf.values()].map((ofAccount) =>
      inTurns(ofAccount.map((board) => cardsOf.get(board.board_id) ?? [])),
    ),
  )
  const taken = new Set(withinBytes(queued))
  const entries: Entry[] = []
  const served = new Set<string>()
  for (const board of boards) {
    const all = cardsOf.get(board.board_id) ?? []
    const here = all.filter((card) => taken.has(card))
    if (here.length === 0 && all.length > 0) continue // no space left in this batch
    served.add(board.account)
    entries.push(...entriesOf(board, here, here.length < all.length || all.length === share))
  }
  const accounts = [...boardsOf.keys()]
  const waiting = accounts.findIndex((account) => !served.has(account))
  return { entries, lastAccount: accounts.at(waiting < 0 ? -1 : waiting - 1)!, pending }
}

/** The boards whose changes have waited longest, and what is pending of each. */
function pendingBoards(tx: Transaction, { boardIds, except, lastAccount }: BatchRequest) {
  const oldest =
    boardIds === null
      ? tx`
          select x.id, x.board_id, x.workspace_id
          from pending_workspaces w
          cross join lateral (
            select * from search_pending p
            where p.workspace_id = w.id and p.board_id <> all (${except}::uuid[])
            order by p.id
            limit ${batchBoards}
          ) x`
      : tx`
          select x.id, x.board_id, x.workspace_id
          from unnest(${boardIds}::uuid[]) as b(id)
          cross join lateral (select * from search_pending p where p.board_id = b.id order by p.id limit 1) x
          where b.id <> all (${except}::uuid[])`
  return tx<BoardRow[]>`
    with recursive pending_workspaces as (
      (select workspace_id as id from search_pending order by workspace_id limit 1)
      union all
      select (select p.workspace_id from search_pending p where p.workspace_id > w.id order by p.workspace_id limit 1)
      from pending_workspaces w
      where w.id is not null
    ), boards_by_age as (
      select o.board_id, coalesce(w.owner_id, o.workspace_id) as account, min(o.id) as first
      from (${oldest}) o
      left join workspaces w on w.id = o.workspace_id
      group by 1, 2
    ), in_turns as (
      select board_id, account, row_number() over (partition by account order by first) as turn
      from boards_by_age
      order by turn, account <= ${lastAccount}, account
      limit ${batchBoards}
    )
    select t.account, t.board_id, p.*, b.id is null as gone, coalesce(b.updated_at, now())::text as named_at,
      case when a.changed_at = b.updated_at then 'this version' when a.changed_at is not null then 'an earlier version' end as set_aside
    from in_turns t
    cross join lateral (
      select array_agg(p.id) as rows,
        (array_agg(p.workspace_id order by p.id))[1] as workspace_id,
        (array_agg(p.changed_at::text order by p.changed_at, p.after))[1] as changed_at,
        (array_agg(p.after order by p.changed_at, p.after))[1] as after
      from (select * from search_pending p where p.board_id = t.board_id order by p.id limit ${pendingRows}) p
    ) p
    left join boards b on b.id = t.board_id
    left join search_set_aside a on a.board_id = t.board_id and a.card_id = ''
    where p.rows is not null -- another process has deleted them meanwhile
    order by t.turn, t.account <= ${lastAccount}, t.account`
}

/** The first `share` pending cards of each board. */
const pendingCards = (tx: Transaction, boards: BoardRow[], share: number) =>
  tx<CardRow[]>`
    select p.board_id, c.*
    from unnest(
      ${boards.map((row) => row.board_id)}::uuid[],
      ${boards.map((row) => row.changed_at)}::text[]::timestamptz[],
      ${boards.map((row) => row.after)}::text[]
    ) as p(board_id, changed_at, after)
    cross join lateral (
      select c.card_id, c.updated_at::text as changed_at, c.deleted_at is not null as gone,
        coalesce(octet_length(c.title), 0) + coalesce(octet_length(c.body), 0) as bytes,
        case when a.changed_at = c.updated_at then 'this version' when a.changed_at is not null then 'an earlier version' end as set_aside
      from card_index c
      left join search_set_aside a on a.board_id = c.board_id and a.card_id = c.card_id
      where c.board_id = p.board_id and (c.updated_at, c.card_id) > (p.changed_at, p.after)
      order by c.updated_at, c.card_id
      limit ${share}
    ) c
    order by c.changed_at::timestamptz, c.card_id`

type SetAside = Entry['setAside']

interface BoardRow {
  account: string
  board_id: string
  workspace_id: string
  rows: number[]
  changed_at: string
  after: string
  gone: boolean
  named_at: string
  set_aside: SetAside
}

interface CardRow {
  board_id: string
  card_id: string
  changed_at: string
  gone: boolean
  bytes: number
  set_aside: SetAside
}

/** The first element of each list, then the second of each, and so on. */
function inTurns<Item>(lists: Item[][]): Item[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  ).flat()
}

/** The first cards, up to the bytes of a batch. Deletions from the index cost nothing here. */
function withinBytes(cards: CardRow[]): CardRow[] {
  let bytes = 0
  const fitting: CardRow[] = []
  for (const card of cards) {
    if (bytes >= batchBytes) break
    if (!card.gone && card.set_aside !== 'this version') bytes += card.bytes
    fitting.push(card)
  }
  return fitting
}

/** The entries of a board. `cards` begin where the board's last batch ended. */
function entriesOf(row: BoardRow, cards: CardRow[], more: boolean): Entry[] {
  const last = cards.at(-1)
  const board: PendingBoard = {
    id: row.board_id,
    workspaceId: row.workspace_id,
    account: row.account,
    rows: row.rows,
    next: more && last ? { changedAt: last.changed_at, after: last.card_id } : null,
    left: 0,
    isTaken: false,
  }
  const changed = cards.filter((card) => card.set_aside !== 'this version')
  const entries: Entry[] = [
    // This entry is always present, so that each board has an entry with which its rows are deleted.
    { board, cardId: '', changedAt: row.named_at, gone: row.gone, bytes: 0, setAside: row.set_aside },
    ...changed.map((card) => ({
      board,
      cardId: card.card_id,
      changedAt: card.changed_at,
      gone: card.gone || row.gone,
      bytes: card.bytes,
      setAside: card.set_aside,
    })),
  ]
  board.left = entries.length
  return entries
}

interface Words {
  entry: Entry
  title: string
  body: string
}

/** Reads the current texts of these entries, and folds them. Entries that are deleted or set aside have none. */
export async function readWords(
  asSystem: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>,
  entries: Entry[],
): Promise<Words[]> {
  const wanted = entries.filter(({ gone, setAside }) => !gone && setAside !== 'this version')
  const texts = await asSystem(
    (tx) => tx<{ n: number; title: string; body: string }[]>`
      select e.n::integer, coalesce(c.title, b.name, '') as title, coalesce(c.body, '') as body
      from unnest(${wanted.map(({ board }) => board.id)}::uuid[], ${wanted.map(({ cardId }) => cardId)}::text[])
        with ordinality as e(board_id, card_id, n)
      left join card_index c on c.board_id = e.board_id and c.card_id = e.card_id
      left join boards b on b.id = e.board_id and e.card_id = ''
      where c.card_id is not null or b.id is not null`,
  )
  const words: Words[] = []
  for (const { n, title, body } of texts) {
    words.push({ entry: wanted[n - 1]!, title: fold(title), body: fold(body) })
    if (title.length + body.length > 2000) await setImmediate()
  }
  return words
}

/** Writes entries to the index, or deletes them from it. Skips boards that another process has indexed. */
export async function writeWords(tx: Transaction, entries: Entry[], words: Words[]): Promise<void> {
  const mine = await claim(tx, entries)
  const goneBoards = mine.filter(({ gone, cardId }) => gone && cardId === '').map(({ board }) => board)
  const gone = mine.filter((entry) => entry.gone && entry.cardId !== '')
  const unfinished = new Set<PendingBoard>()
  for (const board of goneBoards) {
    const deleted = await tx`
      delete from search_index
      where ctid = any (array(select ctid from search_index where board_id = ${board.id} limit ${goneRows}))`
    if (deleted.count === goneRows) unfinished.add(board)
    await tx`delete from search_set_aside where board_id = ${board.id}`
  }
  const mended = mine.filter(({ setAside }) => setAside === 'an earlier version')
  for (const [table, entries] of Object.entries({ search_index: gone, search_set_aside: mended }))
    if (entries.length > 0)
      await tx`
        delete from ${tx(table)} s
        using unnest(${entries.map(({ board }) => board.id)}::uuid[], ${entries.map(({ cardId }) => cardId)}::text[]) as c(board_id, id)
        where s.board_id = c.board_id and s.card_id = c.id`
  const claimed = new Set(mine)
  const written = words.filter(({ entry }) => claimed.has(entry))
  if (written.length > 0)
    await tx`
      insert into search_index as s (board_id, card_id, workspace_id, title, body, changed_at)
      select *
      from unnest(
        ${written.map(({ entry }) => entry.board.id)}::uuid[],
        ${written.map(({ entry }) => entry.cardId)}::text[],
        ${written.map(({ entry }) => entry.board.workspaceId)}::uuid[],
        ${written.map(({ title }) => title)}::text[],
        ${written.map(({ body }) => body)}::text[],
        ${written.map(({ entry }) => entry.changedAt)}::text[]::timestamptz[]
      )
      on conflict (board_id, card_id) do update
      set title = excluded.title, body = excluded.body, changed_at = excluded.changed_at
      where s.title <> excluded.title or s.body <> excluded.body`
  await finishBoards(tx, mine, unfinished)
}

/**
 * Records that this version can't be indexed, and deletes its older words from the index. @returns false when another
 * process has indexed the board
 */
export async function setAside(tx: Transaction, entry: Entry, error: string): Promise<boolean> {
  const [mine] = await claim(tx, [entry])
  if (!mine) return false
  await tx`
    insert into search_set_aside (board_id, card_id, changed_at, error)
    values (${entry.board.id}, ${entry.cardId}, ${entry.changedAt}::text::timestamptz, ${error})
    on conflict (board_id, card_id) do update
    set changed_at = excluded.changed_at, error = excluded.error, set_aside_at = excluded.set_aside_at`
  await tx
    .savepoint(
      (nested) =>
        nested`delete from search_index where board_id = ${entry.board.id} and card_id = ${entry.cardId}`,
    )
    .catch(() => undefined) // the deletion failed, too: a search still finds the older words
  await finishBoards(tx, [entry], new Set())
  return true
}

/** Returns the entries whose boards no other process has indexed. Locks their rows of `search_pending`. */
async function claim(tx: Transaction, entries: Entry[]): Promise<Entry[]> {
  const boards = [...new Set(entries.map(({ board }) => board))]
  await tx`
    select set_config('statement_timeout', ${String(statementTimeoutMs)}, true), set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`
  const locked = await tx<{ board_id: string; rows: number }[]>`
    select board_id, count(*)::integer as rows
    from (
      select board_id from search_pending
      where id = any (${boards.flatMap(({ rows }) => rows)}::bigint[])
      for update skip locked
    ) p
    group by board_id`
  const rowsOf = new Map(locked.map((row) => [row.board_id, row.rows]))
  for (const board of boards) if (rowsOf.get(board.id) !== board.rows.length) board.isTaken = true
  return entries.filter(({ board }) => !board.isTaken)
}

/**
 * Deletes the pending rows of boards without remaining entries. Adds a row for the rest of a board that is larger than
 * its batch.
 */
async function finishBoards(tx: Transaction, entries: Entry[], unfinished: Set<PendingBoard>): Promise<void> {
  const counts = Map.groupBy(entries, ({ board }) => board)
  const finished = [...counts.keys()].filter(
    (board) => counts.get(board)!.length === board.left && !unfinished.has(board),
  )
  if (finished.length === 0) return
  await tx`delete from search_pending where id = any (${finished.flatMap(({ rows }) => rows)}::bigint[])`
  const more = finished.filter(({ next }) => next !== null)
  if (more.length > 0)
    await tx`
      insert into search_pending (board_id, workspace_id, changed_at, after)
      select *
      from unnest(
        ${more.map(({ id }) => id)}::uuid[],
        ${more.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${more.map(({ next }) => next!.changedAt)}::text[]::timestamptz[],
        ${more.map(({ next }) => next!.after)}::text[]
      )`
}
