/**
 * Communicates with the other processes (nodes) on the same database. The log is the truth. After a commit, nodes send
 * each other hints (board, position, what was added) over the bus, and only about boards that another node has open. A
 * lost hint does no harm: every node checks its open boards several times a second. collab/bus/messages.ts describes the
 * messages; roster.ts knows which nodes are alive.
 */
import { randomUUID } from 'node:crypto'
import type { Logger } from '../../platform/log.ts'
import type { Signing } from '../../platform/secrets/signatures.ts'
import type { Database } from '../../sql/database.ts'
import { readSigned } from '../bus/added.ts'
import type { Bus } from '../bus/bus.ts'
import { Hints } from '../bus/hints.ts'
import type { MessageOf, Signed } from '../bus/messages.ts'
import type { Added } from '../log/log.ts'
import type { Documents } from './documents.ts'
import { OpenBoards, type Hold } from './open-boards.ts'
import { People } from './people.ts'
import { Roster } from './roster.ts'
import { showHere } from './show.ts'

export interface NodesOptions {
  database: Database
  documents: Documents
  bus: Bus
  /** Signs what messages carry, with a key that all nodes have. */
  signing: Signing
  log: Logger
  /** Closes all canvases of this node. Resolves when their sockets are gone. */
  closeCanvases(): Promise<void>
  /** Called when this node notices that other nodes have lost their locks. */
  onNodesLost?(): void
  /** Called for each node that was alive at the last heartbeat and is not any more. */
  onNodeGone?(node: string): void
}

/** A question to the other nodes that may have a board open. */
interface Question {
  /** These have answered. */
  readonly shownBy: Set<string>
  /** These have to answer; null while the database has not named them. */
  nodes: string[] | null
  done(shown: boolean): void
}

/** After this time a question is sent again: a message may be lost, or a node may have opened the board just then. */
const askAgainMs = 150

export class Nodes {
  readonly #options: NodesOptions
  readonly id: string
  /** The boards that are open on canvases of this process. */
  readonly open = new OpenBoards()
  /** The people on these boards. */
  readonly people = new People()
  readonly #bus: Bus
  readonly #roster: Roster
  readonly #hints: Hints
  readonly #asked = new Map<string, Question>()

  constructor(options: NodesOptions) {
    this.#options = options
    const { database, documents, bus, signing, log } = options
    this.#bus = bus
    this.id = bus.node
    this.#hints = new Hints(bus, signing)
    this.#roster = new Roster({
      ...{ id: this.id, database, log, open: this.open, people: this.people },
      outstanding: () =>
        documents
          .all()
          .filter((board) => board.outstanding)
          .map((board) => board.boardId),
      closeCanvases: () => options.closeCanvases(),
      onNodesLost: () => options.onNodesLost?.(),
      onNodeGone: (node) => options.onNodeGone?.(node),
    })
    bus.on('hint', (message) => this.#hinted(message))
    bus.on('show', (message) => this.#showAsked(message))
    bus.on('shown', (message) => this.#shownBy(message))
  }

  /** @param dead ids of nodes that are known to be dead */
  async start(dead: string[] = []): Promise<void> {
    await this.#bus.start()
    await this.#roster.start(dead)
  }

  async stop(): Promise<void> {
    this.#hints.stop()
    this.#bus.publish({ kind: 'left' })
    for (const { done } of this.#asked.values()) done(false)
    await this.#roster.stop()
    await this.#bus.stop()
  }

  /** Whether canvases may be opened here: this node holds its lock, and the others know it. */
  get isSeating(): boolean {
    return this.#roster.isSeating
  }

  /** The number of nodes that were alive at the last heartbeat; 0 while this one has lost its lock. */
  get alive(): number {
    return this.isSeating ? 1 + this.#roster.others : 0
  }

  /** Whether there was no other node at the last heartbeat. */
  get isAlone(): boolean {
    return this.#roster.isAlone
  }

  /** Whether another node had the board open at the last heartbeat, or when it was last asked about. */
  isElsewhere(boardId: string): boolean {
    return this.#roster.isElsewhere(boardId)
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
    if (this.isAlone) return true
    const ask = randomUUID()
    const { promise: answered, resolve: done } = Promise.withResolvers<boolean>()
    // Another node is known to have the board open. It need not wait until the database has named all.
    const isSent = this.isElsewhere(boardId)
    const signed = isSent ? this.#hints.replaced(boardId, seq) : undefined
    const send = () => this.#bus.publish({ kind: 'show', ask, board: boardId, seq, signed })
    if (isSent) send()
    const question: Question = { shownBy: new Set(), nodes: null, done }
    this.#asked.set(ask, question)
    const timers = [setTimeout(() => done(false), timeoutMs), setTimeout(send, askAgainMs)]
    // The message leaves before the query: writing that first delays it by 0.1 ms.
    if (isSent) setImmediate(() => void this.#askAll(boardId, question, null))
    else void this.#askAll(boardId, question, send)
    return answered.finally(() => {
      for (const timer of timers) clearTimeout(timer)
      this.#asked.delete(ask)
    })
  }

  /** Reads which nodes have to answer. The database is asked after the commit, so no canvas can be opened unnoticed. */
  async #askAll(boardId: string, question: Question, send: (() => void) | null): Promise<void> {
    try {
      question.nodes = await this.#roster.showing(boardId)
      if (question.nodes.length > 0) send?.()
      settle(question)
    } catch (error) {
      this.#options.log.warn({ err: error, boardId }, 'asking other nodes to show a change failed')
      question.done(false)
    }
  }

  /** Sends a hint about a commit of this node to the other nodes that have the board open. */
  committed(boardId: string, added: Added): void {
    if (this.isElsewhere(boardId)) this.#hints.add(boardId, added)
  }

  #hinted({ from, boards, signed }: MessageOf<'hint'>): void {
    const added = this.#read(from, signed)
    for (const [boardId, seq] of boards)
      this.#options.documents.find(boardId)?.noticed(seq, added?.get(boardId))
  }

  /**
   * Reads what a message carries. Only a node that holds its lock in this database has commits of this database: a copy
   * of the database may have the same boards, the same keys and the same Redis.
   */
  #read(from: string, signed: Signed | undefined): ReadonlyMap<string, Added> | undefined {
    if (!signed || !this.#roster.isOther(from)) return undefined
    return readSigned(this.#options.signing, from, signed)
  }

  /**
   * Only a node that may be asked answers, for itself. Its board may have been closed meanwhile. Every node may have the
   * document in memory: the question came in place of a hint.
   */
  async #showAsked({ from, ask, board, seq, signed }: MessageOf<'show'>): Promise<void> {
    this.#options.documents.find(board)?.noticed(seq, this.#read(from, signed)?.get(board))
    if (!this.#roster.isRegistered(board)) return
    const here = { documents: this.#options.documents, open: this.open }
    if ((await showHere(here, board, seq)) === 'shown') this.#bus.publish({ kind: 'shown', ask, board, seq })
  }

  #shownBy({ ask, from }: MessageOf<'shown'>): void {
    const question = this.#asked.get(ask)
    if (!question) return
    question.shownBy.add(from)
    settle(question)
  }
}

function settle({ nodes, shownBy, done }: Question): void {
  if (nodes?.every((node) => shownBy.has(node))) done(true)
}
