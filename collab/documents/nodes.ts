/**
 * Communicates with the other processes (nodes) on the same database. The log is the truth. Nodes send each other only
 * hints (board, position) over LISTEN and NOTIFY, and only about boards that another node has open. A lost hint does no
 * harm: every node checks its open boards several times a second. node-messages.ts describes the messages; roster.ts
 * knows which nodes are alive.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../platform/log.ts'
import type { Database, Listener } from '../../sql/database.ts'
import type { Documents } from './documents.ts'
import { parseNodeMessage, type NodeMessage } from './node-messages.ts'
import { OpenBoards, type Hold } from './open-boards.ts'
import { Roster } from './roster.ts'
import { showHere } from './show.ts'

export interface NodesOptions {
  database: Database
  documents: Documents
  log: Logger
  onNotified?(rows: Notified[]): void
  /** Called when any process revoked tokens or ended sessions. */
  onRevoked?(): void
  /** Closes all canvases of this node. Resolves when their sockets are gone. */
  closeCanvases(): Promise<void>
  /** Called when this node notices that other nodes have lost their locks. */
  onNodesLost?(): void
  /** Interval of the heartbeat, at which the node also reads the other nodes' state. */
  beatMs?: number
}

/** A committed notification. */
export type Notified = [account: string, notificationId: string]

const channel = 'corkboard_nodes'
/** Malformed messages are logged at most this often. */
const ignoredLogMs = 10_000
/** Hints within this time are sent together. */
const hintMs = 40
/** Hints in one message. NOTIFY accepts 8,000 bytes. */
const hintsPerMessage = 100

export class Nodes {
  readonly #options: NodesOptions
  readonly id = randomUUID()
  /** The boards that are open on canvases of this process. */
  readonly open = new OpenBoards()
  readonly #roster: Roster
  #hints = new Map<string, number>()
  #hintTimer: NodeJS.Timeout | null = null
  readonly #asked = new Map<string, { waitingFor: Set<string>; done(shown: boolean): void }>()
  #listener: Listener | null = null
  /** Malformed messages since the last log line about them. */
  #ignored = 0
  #ignoredLoggedAt = -Infinity

  constructor(options: NodesOptions) {
    this.#options = options
    const { database, documents, log, beatMs = 1000 } = options
    this.#roster = new Roster({
      ...{ id: this.id, database, log, beatMs, open: this.open },
      outstanding: () =>
        documents
          .all()
          .filter((board) => board.outstanding)
          .map((board) => board.boardId),
      closeCanvases: () => options.closeCanvases(),
      onNodesLost: () => options.onNodesLost?.(),
    })
  }

  /** @param dead ids of nodes that are known to be dead */
  async start(dead: string[] = []): Promise<void> {
    this.#listener = await this.#options.database.listen(channel, (text) => this.#heard(text))
    await this.#roster.start(dead)
  }

  async stop(): Promise<void> {
    if (this.#hintTimer) clearTimeout(this.#hintTimer)
    for (const { done } of this.#asked.values()) done(false)
    await this.#roster.stop()
    await this.#listener?.close()
  }

  /** Whether canvases may be opened here: this node holds its lock, and the others know it. */
  get isSeating(): boolean {
    return this.#roster.isSeating
  }

  /**
   * Registers a board as open on this node, before a canvas that holds it is shown.
   *
   * @returns the position of the log that the canvas has to be shown at least; null when there is no such board
   */
  register(boardId: string): Promise<number | null> {
    return this.#roster.register(boardId)
  }

  /** Holds a board for a canvas that begins to open. */
  hold(boardId: string): Hold {
    return this.open.hold(boardId)
  }

  /**
   * Asks the other nodes that may have the board open to show this position. True when each of them did so in time.
   */
  async show(boardId: string, seq: number, timeoutMs: number): Promise<boolean> {
    if (this.#roster.isAlone) return true
    const ask = randomUUID()
    const { promise: answered, resolve: done } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => done(false), timeoutMs)
    this.#asked.set(ask, { waitingFor: new Set(), done })
    void this.#ask(boardId, seq, ask)
    return answered.finally(() => {
      clearTimeout(timer)
      this.#asked.delete(ask)
    })
  }

  async #ask(boardId: string, seq: number, ask: string): Promise<void> {
    try {
      const nodes = await this.#roster.showing(boardId)
      const asked = this.#asked.get(ask)
      if (nodes.length === 0) asked?.done(true)
      if (!asked || nodes.length === 0) return // without `asked` it is too late
      for (const node of nodes) asked.waitingFor.add(node)
      await this.#send({ kind: 'show', from: this.id, board: boardId, seq, ask })
    } catch (error) {
      this.#options.log.warn({ err: error, boardId }, 'asking other nodes to show a change failed')
      this.#asked.get(ask)?.done(false)
    }
  }

  /** Sends a hint about a commit of this node to the other nodes that have the board open. */
  committed(boardId: string, seq: number): void {
    if (!this.#roster.isElsewhere(boardId)) return
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
        this.#options.log.warn(
          { err: error, kind: message.kind },
          'handling a message of another process failed',
        ),
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
      if (asked?.waitingFor.delete(message.from) && asked.waitingFor.size === 0) asked.done(true)
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
    // Only a node that may be asked answers, for itself. Its board may have been closed meanwhile.
    if (!this.#roster.isRegistered(message.board)) return
    const here = { documents: this.#options.documents, open: this.open }
    if (!(await showHere(here, message.board, message.seq))) return
    await this.#send({ kind: 'shown', from: this.id, ask: message.ask }).catch(() => undefined)
  }

  #send(message: NodeMessage): Promise<unknown> {
    return this.#options.database.callAsSystem(
      (sql) => sql`select pg_notify(${channel}, ${JSON.stringify(message)})`,
      'follow',
    )
  }
}
