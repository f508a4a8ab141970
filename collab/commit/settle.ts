/** What comes of a commit: for its writes and those who wait for them, its edits, and its boards. */
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { isIndivisible, type BatchItem } from './assemble.ts'
import {
  endFlush,
  rejectWrite,
  type BoardQueue,
  type CommittedWrite,
  type PendingWrite,
  type Written,
} from './board-queue.ts'
import { headOf, type CommitAnswer, type Outcome, type RefusalDetail } from './commit-call.ts'
import type { DocumentQuota } from './document-quota.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import { refusal } from './refusal.ts'

export interface SettleOptions {
  freeCardCap: number | null
  quota: DocumentQuota
  clock: Clock
  log: Logger
  /** After each commit that added to a board's log. */
  onGrown?(boardId: string, head: BoardHead): void
}

/** An item, and what the commit says of it. */
interface Entry {
  item: BatchItem
  outcome: Outcome
  detail: RefusalDetail
  times: Written['times']
}

/** @param active those with something to commit: a board that has nothing left leaves */
export function settle(
  batch: BatchItem[],
  answer: CommitAnswer,
  active: Set<BoardQueue>,
  options: SettleOptions,
): void {
  const now = options.clock.now()
  const heads = new Map((answer.boards ?? []).map((row) => [row[0], headOf(row)]))
  for (const [queue, entries] of entriesByQueue(batch, answer)) {
    const head = heads.get(queue.boardId)
    if (head) queue.head = head
    const ok = entries.filter((entry) => entry.outcome === 'ok').map(({ item }) => item)
    const grew = ok.some(({ updates }) => updates.length > 0)
    if (queue.singly > 0) queue.singly -= 1
    dropEdits(queue, ok, now)
    if (head && grew) show(queue, head.seq, ok.flatMap(committedWrite), options.log)
    else if (head) queue.document?.noticed(head.seq)
    for (const { item, outcome } of entries) chargeItem(item, outcome === 'ok', options.quota)
    const again = entries.flatMap((entry) => settleItem(entry, head?.seq ?? 0, answer.t, options))
    queue.writes.unshift(...again)
    waitWhileBusy(
      queue,
      entries.some(({ outcome }) => outcome === 'busy'),
      now,
    )
    if (queue.idle) active.delete(queue)
    if (grew && queue.head) options.onGrown?.(queue.boardId, queue.head)
    if (ok.some(({ kind }) => kind === 'edit')) queue.release()
  }
}

function entriesByQueue(batch: BatchItem[], answer: CommitAnswer): Map<BoardQueue, Entry[]> {
  const outcomes = new Map(answer.items.map(([n, outcome, detail]) => [n, { outcome, detail }]))
  const times = new Map<number, Written['times']>()
  for (const [n, id, created, updated] of answer.times ?? []) {
    const of = times.get(n) ?? new Map<string, { created: number; updated: number }>()
    times.set(n, of.set(id, { created, updated }))
  }
  const byQueue = new Map<BoardQueue, Entry[]>()
  batch.forEach((item, n) => {
    const { outcome, detail } = outcomes.get(n) ?? { outcome: 'ok' as const, detail: null }
    const entry = { item, outcome, detail, times: times.get(n) ?? new Map() }
    const entries = byQueue.get(item.queue)
    if (entries) entries.push(entry)
    else byQueue.set(item.queue, [entry])
  })
  return byQueue
}

function dropEdits(queue: BoardQueue, committed: BatchItem[], now: number): void {
  for (const item of committed) {
    if (item.kind !== 'edit') continue
    for (const edit of queue.edits.splice(0, item.count)) queue.editBytes -= edit.update.byteLength
    queue.committedMark += item.count
    queue.editsSince = now
    queue.stalled = false
  }
}

function committedWrite(item: BatchItem): CommittedWrite[] {
  if (item.kind !== 'write' || item.updates.length === 0) return []
  return [
    {
      updates: item.updates,
      cards: new Set(item.built?.rows.map(({ id }) => id)),
      groups: new Set(item.built?.groups.map(({ id }) => id)),
    },
  ]
}

/** What was written takes room in the owner's storage of documents; what was not gives back the room that it held. */
function chargeItem(item: BatchItem, isWritten: boolean, quota: DocumentQuota): void {
  const { boardId } = item.queue
  if (item.kind === 'write' && item.reservedBytes > 0) quota.settle(boardId, item.reservedBytes, isWritten)
  else if (isWritten && item.updates.length > 0) {
    const removed = item.kind === 'write' ? (item.built?.removed ?? []) : []
    quota.add(boardId, bytesOf(item.updates) + bytesOf(removed.map(({ state }) => state)))
  }
}

/** It is committed, whatever happens now: a document that cannot take it is brought up from the log. */
function show(queue: BoardQueue, seq: number, writes: CommittedWrite[], log: Logger): void {
  try {
    queue.document?.committed(seq, writes)
  } catch (error) {
    log.error({ err: error, boardId: queue.boardId, seq }, 'a committed update could not be applied')
    queue.document?.noticed(seq)
  }
}

/** @returns a write that has to go again */
function settleItem(
  { item, outcome, detail, times }: Entry,
  seq: number,
  at: number,
  { freeCardCap }: SettleOptions,
): PendingWrite[] {
  if (item.kind === 'write') {
    if (outcome === 'again' || outcome === 'busy') return [item.write]
    if (outcome === 'ok') resolveWrite(item.write, { seq, at, times })
    else rejectWrite(item.write, refusal(item, outcome, detail, freeCardCap ?? 0))
    return []
  }
  const { queue } = item
  if (item.kind === 'flush') {
    if (outcome === 'ok') {
      queue.document?.flushed()
      if (!item.flush.isPart) endFlush(queue)
    } else queue.document?.flushFailed()
  }
  if (outcome === 'missing') {
    queue.edits = []
    queue.editBytes = 0
    endFlush(queue)
    queue.document?.gone()
  }
  return []
}

function resolveWrite(write: PendingWrite, written: Written): void {
  if (write.settled) return
  write.settled = true
  write.resolve(written)
}

function waitWhileBusy(queue: BoardQueue, busy: boolean, now: number): void {
  queue.retryDelayMs = busy ? Math.min(250, queue.retryDelayMs * 2 || 10) : 0
  queue.retryAt = busy ? now + queue.retryDelayMs : 0
}

/** Nothing was written. The items go again, one board at a time, then one by one, until the one at fault is alone. */
export function settleFault(batch: BatchItem[], error: unknown, { log, clock, quota }: SettleOptions): void {
  const single = isIndivisible(batch) ? batch[0]! : null
  log.error({ err: error, items: batch.length }, 'a commit was refused as a whole')
  const now = clock.now()
  const writes = new Map<BoardQueue, PendingWrite[]>()
  for (const item of batch) {
    item.queue.singly = Math.max(
      item.queue.singly,
      batch.filter((other) => other.queue === item.queue).length,
    )
    if (item.kind === 'flush') item.queue.document?.flushFailed()
    chargeItem(item, false, quota)
    if (item.kind !== 'write') continue
    if (single)
      rejectWrite(
        item.write,
        new ServiceError('internal_error', 'The change could not be stored.', { cause: error }),
      )
    else writes.set(item.queue, [...(writes.get(item.queue) ?? []), item.write])
  }
  for (const [queue, pending] of writes) queue.writes.unshift(...pending)
  if (!single) return
  for (const { queue } of batch) queue.singly = 0
  if (single.kind === 'write') return
  single.queue.retryDelayMs = Math.min(5000, single.queue.retryDelayMs * 2 || 100)
  single.queue.retryAt = now + single.queue.retryDelayMs
  if (single.kind === 'flush') endFlush(single.queue)
}
