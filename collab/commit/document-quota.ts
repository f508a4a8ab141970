/**
 * The storage of documents: whether the owner of a board has room for what a write adds.
 *
 * The exact figure is a sum over all boards of the owner. It is read from the database when it is needed, and counted on
 * from here meanwhile, so that a commit pays for a look into a map:
 *
 *   - A figure serves for a minute, or until this process has added 1/32 of what was left. So 32 processes together add no
 *     more than what was left.
 *   - A refusal rests on a figure that is at most `exactMs` old.
 *
 * What editors write is counted, and never refused.
 */
import type { BytesByTier } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'

export interface DocumentQuotaOptions {
  database: Database
  documentBytes: BytesByTier
  log: Logger
  /** Merges the logs of these boards: what was deleted takes no room any more. */
  compact(boardIds: string[]): void
  /** Writes that waited for a figure can go on. */
  ready(): void
}

/** How much room an owner has. */
interface Room {
  readonly owner: string
  /** What was left when the figure was read, what has been written here since, and what is on its way. */
  left: number
  added: number
  reserved: number
  readAt: number
  /** When boards were last compacted to make room. */
  compactedAt: number
}

/** Age of a figure at most: of any, of one that refuses a write, of one by which editors are judged. */
const maxAgeMs = 60_000
const exactMs = 250
const recentMs = 1000
/** A process reads the figure again when it has added this part of what was left. */
const sharePerProcess = 1 / 32
/** Boards of an owner that are compacted at once when there is no room, and how often. */
const compaction = { boards: 4, everyMs: 5000 }
/** A write waits no longer for the figure: without one it is not refused. */
const patienceMs = 500
const waiverMs = 1000
const maxBoards = 10_000

export class DocumentQuota {
  readonly #options: DocumentQuotaOptions
  /** The room of a board's owner, and when that was found: a workspace may change hands. */
  readonly #boards = new Map<string, { room: Room; foundAt: number }>()
  readonly #rooms = new Map<string, Room>()
  /** By board. */
  readonly #reading = new Map<string, Promise<void>>()
  /** Boards whose writes wait for a figure, and those whose writes go on without one until then. */
  readonly #awaited = new Set<string>()
  readonly #waived = new Map<string, number>()

  constructor(options: DocumentQuotaOptions) {
    this.#options = options
  }

  /** Whether a write can go now. If there is no figure to go by, it is read, and `ready` is called. */
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
   * To be called when a write was refused.
   *
   * @returns whether the figure was too old for that; there is a new one now, and the write is to be tried again
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

  /** Takes room for a write until `spend` or `giveBack`. False when there is too little. */
  take(boardId: string, bytes: number): boolean {
    const room = this.#boards.get(boardId)?.room
    if (!room) return true
    if (room.left - room.added - room.reserved < bytes) return false
    room.reserved += bytes
    return true
  }

  /** A write for which room was taken has been made. */
  spend(boardId: string, bytes: number): void {
    this.giveBack(boardId, bytes)
    const room = this.#boards.get(boardId)?.room
    if (room) room.added += bytes
  }

  /** A write for which room was taken has not been made. */
  giveBack(boardId: string, bytes: number): void {
    const room = this.#boards.get(boardId)?.room
    if (room) room.reserved = Math.max(0, room.reserved - bytes)
  }

  /** Something was written that needed no room. */
  add(boardId: string, bytes: number): void {
    const room = this.#boards.get(boardId)?.room
    if (room) room.added += bytes
    if (!this.#isUsable(boardId)) this.#readSoon(boardId, recentMs)
  }

  /** Whether the board's owner has no room at all, by a recent figure. */
  async isFull(boardId: string): Promise<boolean> {
    if (this.#ageOf(boardId) > recentMs) await this.#patiently(this.#read(boardId))
    return this.seemsFull(boardId)
  }

  /** The same by the figure at hand. */
  seemsFull(boardId: string): boolean {
    const room = this.#boards.get(boardId)?.room
    return room !== undefined && room.left - room.added <= 0
  }

  /** Editors of this board wait for room: keeps the figure recent. */
  watch(boardId: string): void {
    this.#readSoon(boardId, recentMs)
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

  #readSoon(boardId: string, maxAge: number): void {
    if (this.#ageOf(boardId) > maxAge) void this.#patiently(this.#read(boardId))
  }

  /** Never fails: the commit will say what is wrong with the database. */
  async #patiently(work: Promise<unknown>): Promise<void> {
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, patienceMs)
    const failed = (error: unknown) =>
      this.#options.log.debug({ err: error }, 'the storage of an account’s documents cannot be read')
    await Promise.race([patience.promise, work.catch(failed)])
    clearTimeout(timer)
  }

  /** One statement at a time for a board. */
  #read(boardId: string): Promise<void> {
    let reading = this.#reading.get(boardId)
    if (!reading) {
      reading = this.#readNow(boardId).finally(() => this.#reading.delete(boardId))
      this.#reading.set(boardId, reading)
    }
    return reading
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
    if (this.#boards.size >= maxBoards) this.#forgetAll()
    const room = this.#rooms.get(found.owner) ?? emptyRoom(found.owner)
    Object.assign(room, { left, added: 0, readAt: now })
    this.#rooms.set(found.owner, room)
    this.#boards.set(boardId, { room, foundAt: now })
    if (left <= 0) await this.#compact(room)
  }

  #forgetAll(): void {
    this.#boards.clear()
    this.#rooms.clear()
  }

  /** What was deleted takes room until the logs are merged: that is done now for the owner's largest boards. */
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

const emptyRoom = (owner: string): Room => ({
  owner,
  left: 0,
  added: 0,
  reserved: 0,
  readAt: -Infinity,
  compactedAt: -Infinity,
})
