/**
 * Communicates with the other processes (nodes) on the same database. The log is the truth. Nodes send each other only
 * hints (board, position) over the bus, and only about boards that another node has open. A lost hint does no harm:
 * every node checks its open boards several times a second. collab/bus/messages.ts describes the messages.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../platform/log.ts'
import type { Database } from '../../sql/database.ts'
import type { Bus } from '../bus/bus.ts'
import { Hints } from '../bus/hints.ts'
import type { MessageOf } from '../bus/messages.ts'
import type { Documents } from './documents.ts'
import { showHere } from './show.ts'

export interface NodesOptions {
  database: Database
  documents: Documents
  bus: Bus
  log: Logger
  /** Called with each node that was alive at the last heartbeat and is not any more. */
  onNodeGone?(node: string): void
  /** Interval of the heartbeat, at which the node also reads the other nodes' state. */
  beatMs?: number
}

/** A node without a heartbeat for this long counts as dead. */
const deadAfterSeconds = 10

export class Nodes {
  readonly #options: NodesOptions & { beatMs: number }
  readonly id: string
  readonly #bus: Bus
  readonly #open = new Set<string>()
  #others: string[] = []
  /** Boards that other nodes had open at the last heartbeat. Only for these are hints sent. */
  #elsewhere = new Set<string>()
  readonly #hints: Hints
  readonly #asked = new Map<string, { waitingFor: Set<string>; done(shown: boolean): void }>()
  /** Boards that were closed here at the last heartbeat. */
  #closedBefore = new Set<string>()
  /** Boards that are closed here but not yet removed from `open_boards`. */
  readonly #toTell = new Set<string>()
  #closing: Promise<unknown> = Promise.resolve()
  #beatTimer: NodeJS.Timeout | null = null
  #stopped = false

  constructor(options: NodesOptions) {
    this.#options = { beatMs: 1000, ...options }
    this.#bus = options.bus
    this.id = options.bus.node
    this.#hints = new Hints(options.bus)
    this.#bus.on('hint', (message) => this.#hinted(message))
    this.#bus.on('show', (message) => this.#showAsked(message))
    this.#bus.on('shown', (message) => this.#shownBy(message))
  }

  /**
   * Registers this node. When there are others, it waits until all of them have seen it. Otherwise one of them could
   * still assume that it is alone when the first canvas is opened here.
   */
  async start(): Promise<void> {
    await this.#bus.start()
    await this.#beat()
    if (this.#others.length > 0) await new Promise((resolve) => setTimeout(resolve, 2 * this.#options.beatMs))
    this.#scheduleBeat()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#beatTimer) clearTimeout(this.#beatTimer)
    this.#hints.stop()
    this.#bus.publish({ kind: 'left' })
    for (const { done } of this.#asked.values()) done(false)
    await this.#options.database
      .asSystem((tx) => tx`delete from nodes where node_id = ${this.id}`)
      .catch(() => undefined)
    await this.#bus.stop()
  }

  /** Registers a board as open on this node, before its first canvas is shown. */
  async opening(boardId: string): Promise<void> {
    this.#closedBefore.delete(boardId)
    this.#toTell.delete(boardId)
    await this.#closing
    if (this.#open.has(boardId)) return
    await this.#options.database.asSystem(async (tx) => {
      await tx`insert into nodes (node_id) values (${this.id}) on conflict (node_id) do nothing`
      await tx`insert into open_boards (node_id, board_id) values (${this.id}, ${boardId}) on conflict do nothing`
    })
    this.#open.add(boardId)
  }

  /** Asks the other nodes that have the board open to show this position. True when all of them did so in time. */
  async show(boardId: string, seq: number, timeoutMs: number): Promise<boolean> {
    if (this.#others.length === 0) return true
    try {
      const rows = await this.#options.database.asSystem(
        (tx) => tx`
          select o.node_id
          from open_boards o
          join nodes n on n.node_id = o.node_id
          where o.board_id = ${boardId} and o.node_id <> ${this.id} and n.seen_at > now() - ${deadAfterSeconds} * interval '1 second'`,
      )
      if (rows.length === 0) return true
      const ask = randomUUID()
      const answered = new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), timeoutMs)
        const done = (shown: boolean) => {
          clearTimeout(timer)
          resolve(shown)
        }
        this.#asked.set(ask, { waitingFor: new Set(rows.map((row) => row.node_id as string)), done })
      })
      this.#bus.publish({ kind: 'show', ask, board: boardId, seq })
      return await answered.finally(() => this.#asked.delete(ask))
    } catch (error) {
      this.#options.log.warn({ err: error, boardId }, 'asking other nodes to show a change failed')
      return false
    }
  }

  /** Whether there was no other node at the last heartbeat. */
  get isAlone(): boolean {
    return this.#others.length === 0
  }

  /** Whether another node had the board open at the last heartbeat. */
  isElsewhere(boardId: string): boolean {
    return this.#elsewhere.has(boardId)
  }

  /** Sends a hint about a commit of this node to the other nodes that have the board open. */
  committed(boardId: string, seq: number): void {
    if (this.isElsewhere(boardId)) this.#hints.add(boardId, seq)
  }

  #hinted({ boards }: MessageOf<'hint'>): void {
    for (const [boardId, seq] of boards) this.#options.documents.find(boardId)?.noticed(seq)
  }

  async #showAsked({ ask, board: boardId, seq }: MessageOf<'show'>): Promise<void> {
    const board = this.#options.documents.find(boardId)
    if (board) {
      board.noticed(seq)
      if (!(await showHere(board, seq))) return
    } else if (!this.#open.has(boardId)) return
    this.#bus.publish({ kind: 'shown', ask, board: boardId, seq })
  }

  #shownBy({ ask, from }: MessageOf<'shown'>): void {
    const asked = this.#asked.get(ask)
    if (asked?.waitingFor.delete(from) && asked.waitingFor.size === 0) asked.done(true)
  }

  /** The heartbeat: records that this node is alive and which boards it has open, and reads the other nodes' state. */
  async #beat(): Promise<void> {
    const { database, documents } = this.#options
    const closed = [...this.#open].filter((boardId) => (documents.find(boardId)?.editors ?? 0) === 0)
    const rows = await database.asSystem(async (tx) => {
      await tx`insert into nodes (node_id) values (${this.id}) on conflict (node_id) do update set seen_at = now()`
      await tx`delete from nodes where seen_at < now() - interval '1 minute'`
      return tx<{ node_id: string; boards: string[] | null }[]>`
        select n.node_id, array_agg(o.board_id) filter (where o.board_id is not null) as boards
        from nodes n
        left join open_boards o on o.node_id = n.node_id
        where n.node_id <> ${this.id} and n.seen_at > now() - ${deadAfterSeconds} * interval '1 second'
        group by n.node_id`
    })
    const before = this.#others
    this.#others = rows.map((row) => row.node_id)
    for (const node of before) if (!this.#others.includes(node)) this.#options.onNodeGone?.(node)
    this.#elsewhere = new Set(rows.flatMap((row) => row.boards ?? []))
    // A canvas may be opening right now. So only a board that has been closed for a whole interval is removed.
    const stillClosed = closed.filter((boardId) => this.#closedBefore.has(boardId))
    this.#closedBefore = new Set(closed.filter((boardId) => !stillClosed.includes(boardId)))
    for (const boardId of stillClosed) {
      this.#open.delete(boardId)
      this.#toTell.add(boardId)
    }
    if (this.#toTell.size === 0) return
    const told = [...this.#toTell]
    const telling = database.asSystem(
      (tx) => tx`delete from open_boards where node_id = ${this.id} and board_id = any (${told}::uuid[])`,
    )
    // Opening a board waits for this deletion, whether it succeeds or fails. After a failure the next heartbeat repeats
    // it.
    this.#closing = telling.catch(() => undefined)
    await telling
    for (const boardId of told) this.#toTell.delete(boardId)
  }

  #scheduleBeat(): void {
    if (this.#stopped) return
    this.#beatTimer = setTimeout(() => {
      this.#beat()
        .catch((error: unknown) => this.#options.log.warn({ err: error }, 'heartbeat failed'))
        .finally(() => this.#scheduleBeat())
    }, this.#options.beatMs)
  }
}
