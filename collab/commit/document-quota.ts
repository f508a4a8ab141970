/**
 * The quota for document storage: whether a board's owner has room for what a write adds.
 *
 * The exact usage is a sum over all boards of the owner. It is read from the database when needed, and then updated in
 * memory. So a commit only needs a lookup in a map.
 *
 *   - A figure is used for a minute, or until this process has added 1/32 of the room that was left. So 32 processes
 *     together can't add more than that.
 *   - A write is refused only by a figure that is at most `exactMs` old.
 *
 * Editors' changes are counted, but never refused.
 */
import type { BytesByTier } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'

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
  /** Bytes left when the figure was read; bytes written here since; bytes reserved for writes in progress. */
  left: number
  added: number
  reserved: number
  readAt: number
  compactedAt: number
}

/** Largest age of a figure: in general; for refusing a write; for making editors read-only. */
const maxAgeMs = 60_000
const exactMs = 250
const recentMs = 1000
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
  readonly #reading = new Map<string, Promise<void>>()
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
    await this.#patiently(this.#read(boardId))
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
      await this.#patiently(this.#read(boardId))
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
    if (this.#ageOf(boardId) > recentMs) await this.#patiently(this.#read(boardId))
    return this.seemsFull(boardId)
  }

  /** The same by the current figure, which may be old. */
  seemsFull(boardId: string): boolean {
    const room = this.#boards.get(boardId)?.room
    return room !== undefined && room.left - room.added <= 0
  }

  /** Keeps the figure recent, because editors of this board wait for room. */
  watch(boardId: string): void {
    if (this.#ageOf(boardId) > recentMs) void this.#patiently(this.#read(boardId))
  }

  #ageOf(boardId: string): number {
    const board = this.#boards.get(boardId)
    return performance.now() - Math.min(board?.room.readAt ?? -Infinity, board?.foundAt ?? -Infinity)
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

  /** Reads the figure. Only one read at a time runs for each board. */
  #read(boardId: string): Promise<void> {
    const begin = () => this.#readNow(boardId).finally(() => this.#reading.delete(boardId))
    return this.#reading.getOrInsertComputed(boardId, begin)
  }

  async #readNow(boardId: string): Promise<void> {
    const { database, documentBytes } = this.#options
    const [found] = await database.callAsSystem(
      (sql) => sql<{ owner: string; tier: string; used: number }[]>`
        select owner, tier, used from document_room(${boardId})`,
    )
    if (!found) return
    const now = performance.now()
    const left = documentBytes[found.tier === 'pro' ? 'pro' : 'free'] - found.used
    const fresh = { left, added: 0, readAt: now }
    if (this.#boards.size >= maxBoards) {
      this.#boards.clear()
      this.#rooms.clear()
    }
    const { owner } = found
    const room = this.#rooms.get(owner) ?? { owner, reserved: 0, compactedAt: -Infinity, ...fresh }
    Object.assign(room, fresh)
    this.#rooms.set(owner, room)
    this.#boards.set(boardId, { room, foundAt: now })
    if (left <= 0) await this.#compact(room)
  }

  /** Compacts the owner's largest boards. Deleted content takes storage until the log is merged. */
  async #compact(room: Room): Promise<void> {
    const now = performance.now()
    if (now - room.compactedAt < compaction.everyMs) return
    room.compactedAt = now
    const boards = await this.#options.database.callAsSystem(
      (sql) => sql<{ board_id: string }[]>`
        select s.board_id
        from workspaces w
        join document_sizes s on s.workspace_id = w.id
        where w.owner_id = ${room.owner} and s.log_bytes > 0
        order by s.snapshot_bytes + s.log_bytes desc
        limit ${compaction.boards}`,
    )
    this.#options.compact(boards.map((board) => board.board_id))
  }
}
