/**
 * Expunges the past of a card. First the log is compacted, so that all of the past is in files. Then these are written
 * anew without the card. One transaction makes the new files the history, and marks the old ones as ended. A process that
 * ends before it leaves files that nothing refers to; one that ends after it leaves ended ones. Both are deleted
 * (workers/upkeep/history.ts).
 */
import { randomUUID } from 'node:crypto'
import { noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { FairQueue, QueueFull } from '../../platform/work/fair-queue.ts'
import { task, TaskExceeded } from '../../platform/work/worker-pool.ts'
import type { Transaction } from '../../sql/database.ts'
import type { LiveBoards } from '../boards/live.ts'
import { claimFile, deleteEnded, dropFiles, putFile, readFile } from '../log/history.ts'
import { busy, pasts } from './past.ts'
import type { Rewritten, rewriteRun } from './without-card.ts'

const rewriteTask = task<typeof rewriteRun>(new URL('./without-card.ts', import.meta.url), 'rewriteRun')

/** A run has at most as many rows as a base is large. */
const rewriteMs = 120_000
/** Runs that are written anew. Each may hold a worker thread for long, so the other threads are left to other work. */
export const rewrites = new FairQueue({ atOnce: 1, waiting: 200, waitingPerAccount: 20 })
/** The history was changed meanwhile: by compaction, by the end of its retention, or by a new version. */
const attempts = 5

export interface CardOfBoard {
  boardId: string
  cardId: string
  account: string
}

/** The files of a board's history, in order. Segments have `from_seq`, versions have `id`. */
interface HistoryFile {
  from_seq: number | null
  id: string | null
  key: string
  base_key: string | null
}

interface Written {
  segments: object[]
  versions: object[]
  keys: string[]
  removed: number
  boards: Set<string>
  fileKeys: Set<string>
}

export interface Expunged {
  /** Boards that the card was moved from or to, and where it may have a past. */
  boards: string[]
}

/**
 * @param commit runs a transaction of the caller, who owns the workspace
 * @throws ServiceError `not_found`, `session_unavailable`
 */
export async function expungeCard(
  live: LiveBoards,
  card: CardOfBoard,
  commit: (swap: (tx: Transaction) => Promise<void>) => Promise<void>,
): Promise<Expunged> {
  const { database, history } = live
  const { boardId, account } = card
  try {
    return await pasts.run(account, async () => {
      const [start] = await database.asSystem(
        (tx) => tx<{ seq: number }[]>`select seq from board_documents where board_id = ${boardId}`,
      )
      for (let attempt = 0; attempt < attempts; attempt++) {
        const written = newFiles()
        try {
          if (await tryToExpunge(live, card, start?.seq ?? 0, written, commit))
            return { boards: [...written.boards] }
        } finally {
          await dropFiles(database, written.keys)
          await deleteEnded(database, history.files, boardId)
        }
      }
      throw busy()
    })
  } catch (error) {
    if (error instanceof QueueFull || error instanceof TaskExceeded) throw busy(error)
    throw error
  }
}

/** Thrown to undo the transaction. */
class HistoryChanged extends Error {}

/** @returns false when the history was changed meanwhile */
async function tryToExpunge(
  live: LiveBoards,
  card: CardOfBoard,
  startSeq: number,
  written: Written,
  commit: (swap: (tx: Transaction) => Promise<void>) => Promise<void>,
): Promise<boolean> {
  const { boardId, cardId } = card
  await live.compact(boardId)
  const head = await readHead(live, card)
  if (head.snapshot_seq < startSeq) return false
  const files = head.files ?? []
  for (const run of runsOf(files))
    if (!(await rewrites.run(card.account, () => rewrite(live, card, run, written)))) return false
  if (!head.is_known && written.removed === 0)
    throw new ServiceError(
      'not_found',
      'This board has no card with this id, and none in the past that is kept.',
    )
  const swap = async (tx: Transaction) => {
    const [row] = await tx<{ outcome: string }[]>`
      select expunge_card(
        ${boardId}, ${cardId}, ${head.snapshot_seq}, ${files.flatMap(keysOf)}::text[], ${JSON.stringify(written.segments)}::text::json,
        ${JSON.stringify(written.versions)}::text::json, ${written.keys}::text[], ${[...written.fileKeys]}::text[]
      ) as outcome`
    if (row!.outcome !== 'ok') throw new HistoryChanged()
  }
  try {
    await commit(swap)
    return true
  } catch (error) {
    if (error instanceof HistoryChanged) return false
    throw error
  }
}

interface Head {
  snapshot_seq: number
  /** Whether the card is on the board, or was until lately. */
  is_known: boolean
  files: HistoryFile[] | null
}

async function readHead({ database }: LiveBoards, { boardId, cardId }: CardOfBoard): Promise<Head> {
  const [head] = await database.asSystem(
    (tx) => tx<Head[]>`
      select d.snapshot_seq,
        exists (select from card_index c where c.board_id = d.board_id and c.card_id = ${cardId}) as is_known, (
        select json_agg(f order by f.from_seq)
        from (
          select h.from_seq, null as id, h.key, h.base_key from board_history h where h.board_id = d.board_id
          union all
          select null, v.id, v.key, null from board_versions v where v.board_id = d.board_id
        ) f
      ) as files
      from board_documents d
      where d.board_id = ${boardId}`,
  )
  if (!head) throw noBoard()
  return head
}

const keysOf = ({ key, base_key }: HistoryFile) => (base_key === null ? [key] : [key, base_key])

const newFiles = (): Written => ({
  ...{ segments: [], versions: [], keys: [], removed: 0 },
  ...{ boards: new Set(), fileKeys: new Set() },
})

/** Each base with the segments up to the next one; each version alone. */
function runsOf(files: HistoryFile[]): HistoryFile[][] {
  const runs: HistoryFile[][] = []
  for (const file of files)
    if (runs.length === 0 || file.id !== null || file.base_key !== null) runs.push([file])
    else runs.at(-1)!.push(file)
  return runs
}

/** Writes the files of a run anew. @returns false when a file has been deleted meanwhile */
async function rewrite(
  { database, history, pool }: LiveBoards,
  { boardId, cardId, account }: CardOfBoard,
  run: HistoryFile[],
  written: Written,
): Promise<boolean> {
  const [first] = run
  const isVersion = first!.id !== null
  const baseKey = isVersion ? first!.key : first!.base_key
  const base = baseKey === null ? null : await readFile(history.files, baseKey)
  const segments = await Promise.all(
    run.map(async ({ key }) => (isVersion ? null : readFile(history.files, key))),
  )
  if ((baseKey !== null && !base) || (!isVersion && segments.includes(null))) return false
  const input = { base, segments: segments.flatMap((one) => one ?? []), cardId }
  const [facts, ...parts] = await pool.run(rewriteTask, input, { account, timeoutMs: rewriteMs })
  const { removed, boards, fileKeys, rowBytes } = JSON.parse(Buffer.from(facts!).toString()) as Rewritten
  written.removed += removed
  for (const board of boards) written.boards.add(board)
  for (const key of fileKeys) written.fileKeys.add(key)
  const put = async (bytes: Uint8Array, kind: string) => {
    const key = `history/${boardId}/${kind}-${randomUUID()}`
    written.keys.push(key)
    await claimFile(database, key)
    await putFile(history.files, key, bytes)
    return { key, bytes: bytes.byteLength }
  }
  const newBase = base && (await put(parts.shift()!, isVersion ? 'version' : 'base'))
  if (isVersion) {
    written.versions.push({ id: first!.id, ...newBase, files: fileKeys })
    return true
  }
  for (const [at, part] of parts.entries()) {
    const { from_seq } = run[at]!
    const based = at === 0 && newBase ? { base_key: newBase.key, base_bytes: newBase.bytes } : {}
    written.segments.push({
      from_seq,
      row_bytes: rowBytes[at],
      ...(await put(part, String(from_seq))),
      ...based,
    })
  }
  return true
}
