/** Builds the items of a commit from writes: at once, or in turns when that takes longer than other boards may wait. */
import { LoopTurn, type Steps } from '../../platform/work/loop-turn.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import type { BoardQueue, PendingWrite } from './board-queue.ts'
import type { CommittingDocument } from './committing-document.ts'
import type { DocumentQuota } from './document-quota.ts'
import { editItem, unbuilt, type BatchItem, type Full, type WriteItem } from './items.ts'
import type { BuiltWrite } from './write-request.ts'

/** The state of a board on which a write is built. */
interface Part {
  queue: BoardQueue
  head: BoardHead
  document: CommittingDocument | null
  /** The log position that the write depends on; null when it depends on none. */
  seen: number | null
}

export interface Building {
  write: PendingWrite
  parts: Part[]
  steps: Steps<BuiltWrite[]>
  /** What the next step needs, such as the result of a worker thread; null: nothing. */
  awaits: Promise<unknown> | null
}

/** A write that takes longer to build gets a commit of its own, which is built in turns. */
const inlineBuildMs = 10

/** Whether a write is built from the document in memory. */
export function needsDocument({ reads }: PendingWrite): boolean {
  return reads !== 'nothing' && reads !== 'position'
}

/** Starts building the first write of its queues, and removes it from them. */
export function startBuilding(write: PendingWrite, heads: BoardHead[]): Building {
  const parts = write.queues.map((queue, n): Part => {
    queue.take()
    const [head, document] = [heads[n]!, queue.document]
    const seen = needsDocument(write) ? document!.appliedSeq : write.reads === 'position' ? head.seq : null
    return { queue, head, document, seen }
  })
  return { write, parts, steps: stepsOf(write, heads), awaits: null }
}

function* stepsOf({ request }: PendingWrite, heads: BoardHead[]): Steps<BuiltWrite[]> {
  const begun = 'boardIds' in request ? request.build([heads[0]!, heads[1]!]) : request.build(heads[0]!)
  const built = 'next' in begun ? yield* begun : begun
  return Array.isArray(built) ? built : [built]
}

/**
 * Builds a write at once. Returns null when that takes longer than other boards may wait; its remaining steps can be
 * continued.
 *
 * @throws the error that the write is refused with
 */
export function buildInline(building: Building): BuiltWrite[] | null {
  const until = performance.now() + inlineBuildMs
  do {
    const { done, value } = building.steps.next()
    if (done) return value
    if (value) {
      value.catch(() => undefined) // nobody awaits it if the write is built anew
      building.awaits = value
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
  const { write, parts, steps } = building
  const turn = new LoopTurn()
  try {
    if (building.awaits) await whileWanted(write, building.awaits)
    while (!write.isSettled) {
      const { done, value } = steps.next()
      if (done) {
        if (!isStale(building) && !isOvertaken(building)) return itemsOf(building, value, quota)
        write.reservation.overtaken()
        for (const { queue } of parts) queue.putBack(write)
        break
      }
      if (value) await whileWanted(write, value)
      if (turn.isOver()) await turn.next()
    }
  } catch (error) {
    write.reject(error)
  } finally {
    steps.return([])
  }
  return []
}

/** Waits for what a step needs, for as long as somebody waits for the write. */
function whileWanted(write: PendingWrite, value: Promise<unknown>): Promise<unknown> {
  value.catch(() => undefined) // nobody awaits it when the write is settled
  return Promise.race([value, write.settled])
}

/** Whether the write was built on the index, and its board has come into memory since: editors may have changed it. */
const isOvertaken = ({ write, parts }: Building): boolean =>
  write.restsOn !== undefined && parts.some(({ queue, document }) => queue.document !== document)

/**
 * Whether a document that the write was built on has been dropped, or is behind. A write that reserves its boards is sent
 * even when it is behind, because only the commit can reserve them.
 */
function isStale({ write, parts }: Building): boolean {
  return (
    needsDocument(write) &&
    parts.some(
      ({ queue, document }) =>
        queue.document !== document || !(document?.current || write.reservation.state === 'wanted'),
    )
  )
}

/** The items of a write. All edits of its boards go with it, because it is built on them. */
export function itemsOf({ write, parts }: Building, built: BuiltWrite[], quota: DocumentQuota): BatchItem[] {
  return parts.flatMap((part, at): BatchItem[] => {
    const { queue } = part
    const edits = queue.edits.count > 0 ? [editItem(queue, Infinity)] : []
    return [...edits, writeItem(write, part, built[at]!, quota)]
  })
}

/** Reserves storage for a write that makes cards or groups larger. Its document must have room in memory, too. */
export function writeItem(
  write: PendingWrite,
  { queue, head, seen }: Part,
  built: BuiltWrite,
  quota: DocumentQuota,
): WriteItem {
  const { updates, used, grows } = built
  const bytes = grows > 0 ? bytesOf(updates) : 0
  const full = fullFor(queue, built, bytes, quota)
  // A pair is sent nevertheless. It succeeds when one owner has both boards.
  if (full && !write.isPair) return unbuilt(queue, write, full)
  const clock = used > 0 ? head.apiClock : null
  return {
    kind: 'write',
    queue,
    write,
    updates,
    built,
    clock,
    seen,
    reservedBytes: full ? 0 : bytes,
    full,
  }
}

/** Whatever takes clocks takes memory, also where it replaces something of the same size. */
function fullFor(
  { boardId, document }: BoardQueue,
  { used, grows }: BuiltWrite,
  bytes: number,
  quota: DocumentQuota,
): Full | null {
  if (used > 0 && grows >= 0 && document?.hasRoom === false) return 'memory'
  return grows > 0 && !quota.take(boardId, bytes) ? 'storage' : null
}
