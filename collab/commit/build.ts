/** Builds the items of a commit from writes: at once, or in turns when that takes longer than other boards may wait. */
import { LoopTurn, type Steps } from '../../platform/work/loop-turn.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import type { BoardQueue, HalfWrite, PairedWrites, PendingWrite, SingleWrite } from './board-queue.ts'
import type { CommittingDocument } from './committing-document.ts'
import type { DocumentQuota } from './document-quota.ts'
import { editItem, type BatchItem, type FullItem, type HalfItem, type SingleItem } from './items.ts'
import type { BuiltWrite } from './write-request.ts'

/** A write, with the state on which it is built. */
interface Part<Write extends PendingWrite> {
  queue: BoardQueue
  write: Write
  head: BoardHead
  document: CommittingDocument | null
  /** The log position that it depends on; null when it depends on none. */
  seen: number | null
}

type AnyPart = Part<SingleWrite> | Part<HalfWrite>

/** A write, or the two of a pair, that is being built. */
export interface Building {
  parts: AnyPart[]
  steps: Steps<BuiltWrite[]>
}

/** A write that takes longer to build gets a commit of its own, which is built in turns. */
const inlineBuildMs = 10

/** Whether a write is built from the document in memory. */
export function needsDocument({ reads }: PendingWrite): boolean {
  return reads !== 'nothing' && reads !== 'position'
}

export function partOf<Write extends PendingWrite>(
  queue: BoardQueue,
  write: Write,
  head: BoardHead,
): Part<Write> {
  const { document } = queue
  return { queue, write, head, document, seen: seenBy(write, head, document) }
}

function seenBy(
  { reads }: PendingWrite,
  head: BoardHead,
  document: CommittingDocument | null,
): number | null {
  if (reads === 'nothing') return null
  return reads === 'position' ? head.seq : document!.appliedSeq
}

export function buildingOf(part: Part<SingleWrite>): Building {
  return { parts: [part], steps: stepsOfOne(() => part.write.request.build(part.head)) }
}

/** Starts building a pair. Removes both halves from their queues. */
export function buildingOfPair({ queues, halves, request }: PairedWrites): Building {
  const heads: [BoardHead, BoardHead] = [queues[0].head!, queues[1].head!]
  for (const queue of queues) queue.take()
  const parts = queues.map((queue, side) => partOf(queue, halves[side]!, heads[side]!))
  return { parts, steps: stepsOf(() => request.build(heads)) }
}

function* stepsOf<Built extends BuiltWrite[]>(build: () => Built | Steps<Built>): Steps<BuiltWrite[]> {
  const built = build()
  return Array.isArray(built) ? built : yield* built
}

function* stepsOfOne(build: () => BuiltWrite | Steps<BuiltWrite>): Steps<BuiltWrite[]> {
  const built = build()
  return ['updates' in built ? built : yield* built]
}

/**
 * Builds a write at once. Returns null when that takes longer than other boards may wait; its remaining steps can be
 * continued.
 *
 * @throws the error that the write is refused with
 */
export function buildInline({ steps }: Building): BuiltWrite[] | null {
  const until = performance.now() + inlineBuildMs
  do {
    const { done, value } = steps.next()
    if (done) return value
    if (value) {
      value.catch(() => undefined) // the next attempt awaits it
      return null
    }
  } while (performance.now() < until)
  return null
}

/**
 * Runs the remaining steps, in turns. Returns no items when the write was refused, its caller no longer waits, or it
 * must be built again.
 */
export async function buildInTurns(building: Building, quota: DocumentQuota): Promise<BatchItem[]> {
  const { parts, steps } = building
  const turn = new LoopTurn()
  try {
    for (;;) {
      if (parts.some(({ write }) => write.isSettled)) return []
      const { done, value } = steps.next()
      if (done) {
        if (!parts.some(isStale)) return itemsOf(building, value, quota)
        for (const { queue, write } of parts) queue.putBack([write])
        return []
      }
      if (value) await value
      if (turn.isOver()) await turn.next()
    }
  } catch (error) {
    parts[0]!.write.reject(error)
    return []
  } finally {
    steps.return([])
  }
}

/** Whether the document that the write was built on has been dropped, or is behind. */
function isStale({ queue, write, document }: AnyPart): boolean {
  return needsDocument(write) && (queue.document !== document || !document?.current)
}

/** The items of a write or a pair. All edits of the boards go with it, because it is built on them. */
export function itemsOf({ parts }: Building, built: BuiltWrite[], quota: DocumentQuota): BatchItem[] {
  return parts.flatMap((part, at): BatchItem[] => {
    const { queue } = part
    const edits = queue.edits.count > 0 ? [editItem(queue, Infinity)] : []
    const write = isHalf(part) ? halfItem(part, built[at]!, quota) : singleItem(part, built[at]!, quota)
    return [...edits, write]
  })
}

const isHalf = (part: AnyPart): part is Part<HalfWrite> => part.write.kind === 'half'

export function singleItem(
  part: Part<SingleWrite>,
  built: BuiltWrite,
  quota: DocumentQuota,
): SingleItem | FullItem {
  const { queue, write } = part
  const { isFull, reservedBytes } = takeRoom(queue, built, quota)
  if (isFull) return { kind: 'write', form: 'full', queue, write, updates: [] }
  return { kind: 'write', form: 'single', queue, write, reservedBytes, ...contentOf(part, built) }
}

function halfItem(part: Part<HalfWrite>, built: BuiltWrite, quota: DocumentQuota): HalfItem {
  const { queue, write } = part
  return {
    kind: 'write',
    form: 'half',
    queue,
    write,
    ...takeRoom(queue, built, quota),
    ...contentOf(part, built),
  }
}

function contentOf({ head, seen }: AnyPart, built: BuiltWrite) {
  return { updates: built.updates, built, clock: built.used > 0 ? head.apiClock : null, seen }
}

/** Reserves storage for a write that makes cards or groups larger. */
function takeRoom(
  { boardId }: BoardQueue,
  { grows, updates }: BuiltWrite,
  quota: DocumentQuota,
): Pick<HalfItem, 'reservedBytes' | 'isFull'> {
  if (grows <= 0) return { reservedBytes: 0, isFull: false }
  const bytes = bytesOf(updates)
  return quota.take(boardId, bytes)
    ? { reservedBytes: bytes, isFull: false }
    : { reservedBytes: 0, isFull: true }
}
