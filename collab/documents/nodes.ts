/**
 * The other processes on the same database. The log is the truth; between nodes go only hints (board, position), over
 * LISTEN and NOTIFY, and only for boards that another node has open. A hint that is lost is made good by the look that
 * every node takes at its open boards several times a second. node-messages.ts describes the messages.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../platform/log.ts'
import type { Database, Listener } from '../../sql/database.ts'
import type { Documents } from './documents.ts'
import { parseNodeMessage, type NodeMessage } from './node-messages.ts'
import { showHere } from './show.ts'

export interface NodesOptions {
  database: Database
  documents: Documents
  log: Logger
  onNotified?(rows: Notified[]): void
  /** Tokens were revoked or sessions ended, by whatever process. */
  onRevoked?(): void
  /** How often a node says that it is alive, and looks who else is. */
  beatMs?: number
}

/** A notification that has been committed. */
export type Notified = [account: string, notificationId: string]

const channel = 'corkboard_nodes'
/** A node that has not been heard of for so long is dead. */
const deadAfterSeconds = 10
/** Malformed messages are logged at most this often. */
const ignoredLogMs = 10_000
/** Hints of this span go together. */
const hintMs = 40
/** NOTIFY takes 8,000 bytes. */
const hintsPerMessage = 100

export class Nodes {
  readonly #options: NodesOptions & { beatMs: number }
  readonly id = randomUUID()
  readonly #open = new Set<string>()
  #others: string[] = []
  /** Boards that others had open at the last beat: whom hints go to. */
  #elsewhere = new Set<string>()
  #hints = new Map<string, number>()
  #hintTimer: NodeJS.Timeout | null = null
  readonly #asked = new Map<string, { left: number; done(shown: boolean): void }>()
  /** Closed when the last beat looked. */
  #closedBefore = new Set<string>()
  /** Closed, and the others are still to be told. */
  readonly #toTell = new Set<string>()
  #closing: Promise<unknown> = Promise.resolve()
  #listener: Listener | null = null
  #beatTimer: NodeJS.Timeout | null = null
  #stopped = false
  /** Malformed messages since the last log line about them. */
  #ignored = 0
  #ignoredLoggedAt = -Infinity

  constructor(options: NodesOptions) {
    this.#options = { beatMs: 1000, ...options }
  }

  /**
   * Announces this node. When there are others, it waits until all of them have seen it, so that none of them takes
   * itself for alone when the first canvas is opened here.
   */
  async start(): Promise<void> {
    this.#listener = await this.#options.database.listen(channel, (text) => this.#heard(text))
    await this.#beat()
    if (this.#others.length > 0) await new Promise((resolve) => setTimeout(resolve, 2 * this.#options.beatMs))
    this.#scheduleBeat()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#beatTimer) clearTimeout(this.#beatTimer)
    if (this.#hintTimer) clearTimeout(this.#hintTimer)
    for (const { done } of this.#asked.values()) done(false)
    await this.#options.database
      .asSystem((tx) => tx`delete from nodes where node_id = ${this.id}`)
      .catch(() => undefined)
    await this.#listener?.close()
  }

  /** Before the first canvas of a board is shown here. */
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

  /** Tells the other nodes that have the board open to show this position; true when all of them did so in time. */
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
        this.#asked.set(ask, { left: rows.length, done })
      })
      await this.#send({ kind: 'show', from: this.id, board: boardId, seq, ask })
      return await answered.finally(() => this.#asked.delete(ask))
    } catch (error) {
      this.#options.log.warn({ err: error, boardId }, 'other nodes could not be told of a change')
      return false
    }
  }

  /** A commit of this node: whoever else has the board open is to catch up soon. */
  committed(boardId: string, seq: number): void {
    if (!this.#elsewhere.has(boardId)) return
    this.#hints.set(boardId, seq)
    this.#hintTimer ??= setTimeout(() => {
      this.#hintTimer = null
      const hints = [...this.#hints]
      this.#hints = new Map()
      for (let at = 0; at < hints.length; at += hintsPerMessage) {
        this.#send({ kind: 'hint', from: this.id, boards: hints.slice(at, at + hintsPerMessage) }).catch(
          () => undefined,
        )
      }
    }, hintMs)
  }

  #heard(text: string): void {
    const message = parseNodeMessage(text)
    if (message) {
      this.#receive(message).catch((error: unknown) =>
        this.#options.log.warn({ err: error, kind: message.kind }, 'a message of another process failed'),
      )
      return
    }
    this.#ignored += 1
    const now = performance.now()
    if (now - this.#ignoredLoggedAt < ignoredLogMs) return
    this.#ignoredLoggedAt = now
    this.#options.log.warn(
      { channel, ignored: this.#ignored, text: text.slice(0, 200) },
      'messages between processes were ignored: they are malformed or of another version',
    )
    this.#ignored = 0
  }

  async #receive(message: NodeMessage): Promise<void> {
    if (message.kind === 'shown') {
      const asked = this.#asked.get(message.ask)
      if (asked && --asked.left === 0) asked.done(true)
      return
    }
    if (message.kind === 'notified') {
      this.#options.onNotified?.(message.rows)
      return
    }
    if (message.kind === 'revoked') {
      this.#options.onRevoked?.()
      return
    }
    if (message.from === this.id) return
    if (message.kind === 'hint') {
      for (const [boardId, seq] of message.boards) this.#options.documents.find(boardId)?.noticed(seq)
      return
    }
    const board = this.#options.documents.find(message.board)
    if (board) {
      board.noticed(message.seq)
      if (!(await showHere(board, message.seq))) return
    } else if (!this.#open.has(message.board)) return
    await this.#send({ kind: 'shown', from: this.id, ask: message.ask }).catch(() => undefined)
  }

  #send(message: NodeMessage): Promise<unknown> {
    return this.#options.database.asSystem(
      (tx) => tx`select pg_notify(${channel}, ${JSON.stringify(message)})`,
    )
  }

  /** Says that this node lives and what it has open, and looks at the others. */
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
    this.#others = rows.map((row) => row.node_id)
    this.#elsewhere = new Set(rows.flatMap((row) => row.boards ?? []))
    // A canvas may be opening at this very moment: only what has been closed for a whole beat is taken back.
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
    // Who opens a board waits for it, however it ends; in vain, it is done again at the next beat.
    this.#closing = telling.catch(() => undefined)
    await telling
    for (const boardId of told) this.#toTell.delete(boardId)
  }

  #scheduleBeat(): void {
    if (this.#stopped) return
    this.#beatTimer = setTimeout(() => {
      this.#beat()
        .catch((error: unknown) =>
          this.#options.log.warn({ err: error }, 'this node could not say that it lives'),
        )
        .finally(() => this.#scheduleBeat())
    }, this.#options.beatMs)
  }
}
