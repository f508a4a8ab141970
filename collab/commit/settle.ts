/** Processes a commit's answer: settles its writes, edits, flushes and boards. */
import { ServiceError } from '../../core/errors.ts'
import type { Logger } from '../../platform/log.ts'
import type { BoardQueue, PendingWrite, Waits } from './board-queue.ts'
import { headOf, type CommitAnswer, type Outcome, type RefusalDetail } from './commit-call.ts'
import type { CommittedWrite } from './committing-document.ts'
import type { DocumentQuota } from './document-quota.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import { isIndivisible, type BatchItem } from './items.ts'
import { refusal } from './refusal.ts'
import type { Written } from './write-request.ts'

export interface SettleOptions {
  freeCardCap: number | null
  quota: DocumentQuota
  log: Logger
  /** Called after each commit that added to a board's log, with what it added. */
  onGrown?(boardId: string, head: BoardHead, updates: Uint8Array[]): void
}

interface Entry {
  item: BatchItem
  outcome: Outcome
  detail: RefusalDetail
  times: Written['times']
}

/**
 * Settles a batch.
 *
 * @param active the boards with something to commit; a board with nothing left is removed
 * @returns the longest time in milliseconds that an edit of the batch has waited for this commit; null without edits
 */
export function settle(
  batch: BatchItem[],
  answer: CommitAnswer,
  active: Set<BoardQueue>,
  options: SettleOptions,
): number | null {
  let waitedMs: number | null = null
  const now = performance.now()
  const heads = new Map((answer.boards ?? []).map((row) => [row[0], headOf(row)]))
  for (const [queue, entries] of entriesByQueue(batch, answer)) {
    const head = heads.get(queue.boardId)
    if (head) queue.learn(head)
    const ok = entries.filter((entry) => entry.outcome === 'ok').map(({ item }) => item)
    const updates = ok.flatMap((item) => item.updates)
    const grew = updates.length > 0
    queue.wentSingly()
    for (const item of ok)
      if (item.kind === 'edit') waitedMs = Math.max(waitedMs ?? 0, queue.edits.committed(item.count, now))
    if (head && grew) show(queue, head.seq, ok.flatMap(committedWrite), options.log)
    else if (head) queue.listener?.noticed(head.seq)
    for (const { item, outcome } of entries) chargeItem(item, outcome === 'ok', options.quota)
    queue.putBack(...entries.flatMap((entry) => settleItem(entry, head?.seq ?? 0, answer.t, options)))
    if (entries.some(({ outcome }) => outcome === 'busy')) queue.backOff(now, whileBusy)
    else queue.goOn()
    if (queue.idle) active.delete(queue)
    if (grew && head) options.onGrown?.(queue.boardId, head, updates)
    // Send pending broadcasts in the same socket write as the acknowledgements.
    const release = () => queue.edits.release((sockets) => queue.document?.showWith(sockets))
    if (!ok.some(({ kind }) => kind === 'edit')) continue
    if (queue.document) queue.document.whenShown(release)
    else release()
  }
  return waitedMs
}

function entriesByQueue(batch: BatchItem[], answer: CommitAnswer): Map<BoardQueue, Entry[]> {
  const outcomes = new Map(answer.items.map(([n, outcome, detail]) => [n, { outcome, detail }]))
  const times = new Map<number, Written['times']>()
  for (const [n, id, created, updated] of answer.times ?? []) {
    const of = times.get(n) ?? new Map<string, { created: number; updated: number }>()
    times.set(n, of.set(id, { created, updated }))
  }
  const entries = batch.map((item, n): Entry => {
    const { outcome, detail } = outcomes.get(n) ?? { outcome: 'ok' as const, detail: null }
    return { item, outcome, detail, times: times.get(n) ?? new Map() }
  })
  return Map.groupBy(entries, ({ item }) => item.queue)
}

function committedWrite(item: BatchItem): CommittedWrite[] {
  if (item.kind !== 'write' || !item.built || item.updates.length === 0) return []
  const { updates, rows, groups } = item.built
  const [cardIds, groupIds] = [rows.map(({ id }) => id), groups.map(({ id }) => id)]
  return [{ updates, cards: new Set(cardIds), groups: new Set(groupIds) }]
}

/** Counts a written item in the owner's storage, or releases what was reserved for one that was not written. */
function chargeItem(item: BatchItem, isWritten: boolean, quota: DocumentQuota): void {
  const { boardId } = item.queue
  if (item.kind === 'write' && item.reservedBytes > 0) {
    if (isWritten) quota.spend(boardId, item.reservedBytes)
    else quota.giveBack(boardId, item.reservedBytes)
  } else if (isWritten && item.updates.length > 0) {
    const removed = item.kind === 'write' ? (item.built?.removed ?? []) : []
    quota.add(boardId, bytesOf(item.updates) + bytesOf(removed.map(({ state }) => state)))
  }
}

/**
 * Applies a commit to the document in memory. If that fails, the commit is still valid, and the document catches up
 * from the log.
 */
function show(queue: BoardQueue, seq: number, writes: CommittedWrite[], log: Logger): void {
  try {
    queue.listener?.committed(seq, writes)
  } catch (error) {
    log.error(
      { err: error, boardId: queue.boardId, seq },
      'applying a committed update in memory failed; reading it from the log',
    )
    queue.listener?.noticed(seq)
  }
}

/** @returns the write, when it must be tried again */
function settleItem(
  { item, outcome, detail, times }: Entry,
  seq: number,
  at: number,
  { freeCardCap }: SettleOptions,
): PendingWrite[] {
  if (item.kind === 'write') {
    if (item.built) item.write.reservation.answered(outcome)
    if (outcome === 'again' || outcome === 'reserved' || outcome === 'busy') return [item.write]
    if (outcome === 'ok') item.write.resolve(item.queue, { seq, at, times })
    else item.write.reject(refusal(item, outcome, detail, freeCardCap ?? 0))
    return []
  }
  const { queue } = item
  if (item.kind === 'flush') {
    queue.flushReservation.answered(outcome)
    if (outcome === 'ok') {
      queue.document?.flushed()
      if (!item.flush.isPart) queue.endFlush()
    } else queue.document?.flushFailed()
  }
  if (outcome === 'missing') {
    queue.edits.drop()
    queue.endFlush()
    queue.listener?.gone()
  }
  return []
}

/**
 * Handles a commit of which nothing was written. Its items are tried again: each board alone, then each item alone,
 * until the faulty item is alone. A faulty write is refused; edits and flushes wait.
 */
export function settleFault(batch: BatchItem[], error: unknown, { log, quota }: SettleOptions): void {
  log.error(
    { err: error, items: batch.length },
    'a commit failed and nothing was written; trying its items in smaller commits',
  )
  for (const item of batch) {
    if (item.kind === 'flush') item.queue.document?.flushFailed()
    chargeItem(item, false, quota)
  }
  if (isIndivisible(batch)) failAlone(batch, error, performance.now())
  else goSingly(batch)
}

function goSingly(batch: BatchItem[]): void {
  for (const [queue, items] of Map.groupBy(batch, (item) => item.queue)) {
    queue.goSingly(items.length)
    queue.putBack(...items.flatMap((item) => (item.kind === 'write' ? item.write : [])))
  }
}

function failAlone(batch: BatchItem[], error: unknown, now: number): void {
  for (const item of batch) {
    const { queue, kind } = item
    queue.goTogether()
    if (kind === 'write') {
      item.write.reject(
        new ServiceError('internal_error', 'The change could not be stored.', { cause: error }),
      )
      continue
    }
    queue.backOff(now, afterFault)
    if (kind === 'flush') queue.endFlush()
  }
}

/** The board is locked elsewhere, usually for the time of one commit. */
const whileBusy: Waits = { firstMs: 10, mostMs: 250 }
/** A fault in storing may need an operator. */
const afterFault: Waits = { firstMs: 100, mostMs: 5000 }
