/**
 * The quota for document storage: whether a board's owner has room for what a write adds.
 *
 * The exact usage is a sum over all boards of the owner. It is read from the database when needed, and then updated in
 * memory. So a commit only needs a lookup in a map.
 *
 *   - A figure is used for a minute, or until this process has added 1/32 of the room that was left. So 32 processes
 *     together can't add more than that.
 *   - A write is refused only by a figure that is at most `exactMs` old, or by the newest one of an owner whose sum takes
 *     long.
 *   - All boards of an owner share the figure. An owner may have 100,000 boards, so the sum of one owner runs once at a
 *     time, takes a tenth of the time at most, and holds none of the connections that requests wait for.
 *
 * Editors' changes are counted, but never refused.
 */
import type { BytesByTier } from '../../core/limits.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../platform/log.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import type { Database, Transaction } from '../../sql/database.ts'

export interface DocumentQuotaOptions {
  database: Database
  documentBytes: BytesByTier
  log: Logger
  /** Merges the logs of these boards, so that deleted content no longer takes storage. */
  compact(boardIds: string[]): void
  /** Called when writes that waited for a figure can continue. */
  ready(): void
}

interface Room {
  readonly owner: string
  /**
   * Bytes left when the figure was read, Infinity before; bytes written here since; bytes reserved for writes in
   * progress.
   */
  left: number
  added: number
  reserved: number
  readAt: number
  /** No sum of this owner begins before. */
  restsUntil: number
  compactedAt: number
}

/** Largest age of a figure: in general; for refusing a write; for making editors read-only. */
const maxAgeMs = 60_000
const exactMs = 250
const recentMs = 1000
/** Largest age of what is known of a board's owner, while the board's editors wait for room. */
const ownerMs = 10_000
/** After a sum its owner's next one waits for this many times as long. */
const rest = 9
/** A process reads the figure again when it has added this share of the room that was left. */
const sharePerProcess = 1 / 32
/** How many boards of an owner are compacted when no room is left, and how often. */
const compaction = { boards: 4, everyMs: 5000 }
/**
 * How long a write waits for a figure. Without one it is not refused; for `waiverMs` further writes don't wait either.
 */
const patienceMs = 500
const waiverMs = 1000
const maxBoards = 10_000

export class DocumentQuota {
  readonly #options: DocumentQuotaOptions
  /** The room of a board's owner, and when it was found: a workspace may get another owner. */
  readonly #boards = new Map<string, { room: Room; foundAt: number }>()
  readonly #rooms = new Map<string, Room>()
  readonly #finding = new Map<string, Promise<void>>()
  readonly #summing = new Map<string, Promise<void>>()
  /** Leaves a connection to the other work in the background. */
  readonly #sums = new FairQueue({ atOnce: 2, atOncePerAccount: 1 })
  /** Boards whose writes wait for a figure; and boards whose writes continue without one, with the time until which. */
  readonly #awaited = new Set<string>()
  readonly #waived = new Map<string, number>()

  constructor(options: DocumentQuotaOptions) {
    this.#options = options
  }

  /** Whether a write can go now. If the figure is outdated, it is read and then `ready` is called. */
  isReady(boardId: string): boolean {
    if (this.#isUsable(boardId)) return true
    if ((this.#waived.get(boardId) ?? 0) > performance.now()) return true
    if (!this.#awaited.has(boardId)) void this.#await(boardId)
    return false
  }

  async #await(boardId: string): Promise<void> {
    this.#awaited.add(boardId)
    await this.#patiently(this.#makeUsable(boardId))
    this.#awaited.delete(boardId)
    if (!this.#isUsable(boardId)) {
      if (this.#waived.size >= maxBoards) this.#waived.clear()
      this.#waived.set(boardId, performance.now() + waiverMs)
    }
    this.#options.ready()
  }

  /**
   * Called when a write was refused.
   *
   * @returns whether the figure was outdated; it has been read again, and the write should be repeated
   */
  async refused(boardId: string): Promise<boolean> {
    if (this.#ageOf(boardId) > exactMs) {
      await this.#patiently(this.#read(boardId, exactMs))
      return true
    }
    const room = this.#boards.get(boardId)?.room
    if (room) void this.#patiently(this.#compact(room))
    return false
  }

  /** Reserves room for a write until `spend` or `giveBack`. False when there is too little. */
  take(boardId: string, bytes: number): boolean {
    const room = this.#boards.get(boardId)?.room
    if (!room) return true
    if (room.left - room.added - room.reserved < bytes) return false
    room.reserved += bytes
    return true
  }

  /** Counts a committed write for which room was reserved. */
  spend(boardId: string, bytes: number): void {
    this.giveBack(boardId, bytes)
    const room = this.#boards.get(boardId)?.room
    if (room) room.added += bytes
  }

  /** Releases the room that was reserved for a write that was not committed. */
  giveBack(boardId: string, bytes: number): void {
    const room = this.#boards.get(boardId)?.room
    if (room) room.reserved = Math.max(0, room.reserved - bytes)
  }

  /** Counts written bytes that needed no reservation. */
  add(boardId: string, bytes: number): void {
    const room = this.#boards.get(boardId)?.room
    if (room) room.added += bytes
    if (!this.#isUsable(boardId)) this.watch(boardId)
  }

  /** Whether the board's owner has no room left, by a recent figure. */
  async isFull(boardId: string): Promise<boolean> {
    if (this.#ageOf(boardId) > recentMs) await this.#patiently(this.#read(boardId, recentMs))
    return this.seemsFull(boardId)
  }

  /** The same by the current figure, which may be old. */
  seemsFull(boardId: string): boolean {
    const room = this.#boards.get(boardId)?.room
    return room !== undefined && room.left - room.added <= 0
  }

  /** Keeps the figure recent, because editors of this board wait for room. */
  watch(boardId: string): void {
    const board = this.#boards.get(boardId)
    const isRecent = board && ageOf(board.room.readAt) <= recentMs && ageOf(board.foundAt) <= ownerMs
    if (!isRecent) void this.#patiently(this.#read(boardId, recentMs, ownerMs))
  }

  #ageOf(boardId: string): number {
    const board = this.#boards.get(boardId)
    return board ? ageOf(Math.min(board.room.readAt, board.foundAt)) : Infinity
  }

  #isUsable(boardId: string): boolean {
    const board = this.#boards.get(boardId)
    if (!board) return false
    const { room, foundAt } = board
    const now = performance.now()
    if (now - foundAt > maxAgeMs || now - room.readAt > maxAgeMs) return false
    return (
      room.added + room.reserved <= Math.max(0, room.left) * sharePerProcess || now - room.readAt < exactMs
    )
  }

  /** Waits for `work`, but at most `patienceMs`. Never fails: the commit itself reports a fault of the database. */
  async #patiently(work: Promise<unknown>): Promise<void> {
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, patienceMs)
    const failed = (error: unknown) =>
      this.#options.log.debug({ err: error }, 'reading the document storage of an account failed')
    await Promise.race([patience.promise, work.catch(failed)])
    clearTimeout(timer)
  }

  async #makeUsable(boardId: string): Promise<void> {
    const room = await this.#find(boardId, maxAgeMs)
    if (room && !this.#isUsable(boardId)) await this.#sum(room)
  }

  /** Reads what is older: the board's owner, and the owner's figure. */
  async #read(boardId: string, mostMs: number, ownerMostMs = mostMs): Promise<void> {
    const room = await this.#find(boardId, ownerMostMs)
    if (room && ageOf(room.readAt) > mostMs) await this.#sum(room)
  }

  /** Finds the room of the board's owner. Undefined when the board does not exist. */
  async #find(boardId: string, mostMs: number): Promise<Room | undefined> {
    if (ageOf(this.#boards.get(boardId)?.foundAt ?? -Infinity) > mostMs) {
      const begin = () => this.#findNow(boardId).finally(() => this.#finding.delete(boardId))
      await this.#finding.getOrInsertComputed(boardId, begin)
    }
    return this.#boards.get(boardId)?.room
  }

  async #findNow(boardId: string): Promise<void> {
    const [found] = await this.#options.database.callAsSystem(
      (sql) => sql<{ owner: string }[]>`
        select w.owner_id as owner
        from boards b
        join workspaces w on w.id = b.workspace_id
        where b.id = ${boardId}`,
    )
    if (!found) return
    if (this.#boards.size >= maxBoards) {
      this.#boards.clear()
      this.#rooms.clear()
    }
    const { owner } = found
    const room = this.#rooms.getOrInsertComputed(owner, () => newRoom(owner))
    this.#boards.set(boardId, { room, foundAt: performance.now() })
  }

  /** Reads the owner's figure. */
  #sum(room: Room): Promise<void> {
    const begin = () => this.#sumNow(room).finally(() => this.#summing.delete(room.owner))
    return this.#summing.getOrInsertComputed(room.owner, begin)
  }

  async #sumNow(room: Room): Promise<void> {
    const { database, documentBytes } = this.#options
    const restMs = room.restsUntil - performance.now()
    if (restMs > 0) await delay(restMs, undefined, { ref: false })
    const read = async (tx: Transaction): Promise<void> => {
      const begun = performance.now()
      const { added } = room // what is written from now on may not be in the sum
      try {
        const [found] = await tx<{ tier: string; used: number }[]>`
          select u.tier, owner_documents(u.id) as used from users u where u.id = ${room.owner}`
        if (!found) return
        const left = documentBytes[found.tier === 'pro' ? 'pro' : 'free'] - found.used
        Object.assign(room, { left, added: room.added - added, readAt: performance.now() })
      } finally {
        const tookMs = performance.now() - begun
        room.restsUntil = performance.now() + Math.min(maxAgeMs, tookMs * rest)
      }
    }
    await this.#sums.run(room.owner, () => database.asSystem(read, 'background'))
    if (room.left <= 0) void this.#patiently(this.#compact(room))
  }

  /** Compacts the owner's largest boards. Deleted content takes storage until the log is merged. */
  async #compact(room: Room): Promise<void> {
    const now = performance.now()
    if (now - room.compactedAt < compaction.everyMs) return
    room.compactedAt = now
    const boards = await this.#sums.run(room.owner, () =>
      this.#options.database.asSystem(
        (tx) => tx<{ board_id: string }[]>`
          select s.board_id
          from workspaces w
          join document_sizes s on s.workspace_id = w.id
          where w.owner_id = ${room.owner} and s.log_bytes > 0
          order by s.snapshot_bytes + s.log_bytes desc
          limit ${compaction.boards}`,
        'background',
      ),
    )
    this.#options.compact(boards.map((board) => board.board_id))
  }
}

const newRoom = (owner: string): Room => ({
  ...{ owner, left: Infinity, added: 0, reserved: 0 },
  ...{ readAt: -Infinity, restsUntil: -Infinity, compactedAt: -Infinity },
})

const ageOf = (at: number): number => performance.now() - at
