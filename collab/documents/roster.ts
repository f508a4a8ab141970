/**
 * This node among the others on the same database: whether it is alive, who else is, and which boards each has open.
 *
 * A node is alive while a session of its own holds its advisory lock (sql/functions/nodes.sql). PostgreSQL can't tell a
 * node that was killed from one that is cut off. So a node that loses its lock closes its canvases, and opens none until
 * it holds the lock again. The other nodes count it as showing its boards for three seconds more.
 *
 * Everything that this node writes about itself goes through that session, in order. So a node without its lock writes
 * nothing, and the row of a board that is opened can't be removed by an earlier heartbeat.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../platform/log.ts'
import { QueryBatch } from '../../platform/work/query-batch.ts'
import type { Database, Session } from '../../sql/database.ts'
import type { OpenBoards } from './open-boards.ts'
import type { People } from './people.ts'

export interface RosterOptions {
  /** The node's id. */
  id: string
  database: Database
  open: OpenBoards
  people: People
  /** Boards with edits that are not indexed yet. They are registered, too: when this node dies, another indexes them. */
  outstanding(): Iterable<string>
  log: Logger
  /** Closes all canvases of this node. Resolves when their sockets are gone. */
  closeCanvases(): Promise<void>
  /** Called when this node notices that other nodes have lost their locks. */
  onNodesLost?(): void
  /** Called for each node that was alive at the last heartbeat and is not any more. */
  onNodeGone?(node: string): void
}

/** Interval of the heartbeat, at which the node also reads the other nodes' state. It is the same on all nodes. */
const beatMs = 1000

/** Interval of the attempts to take the lock again. */
const retryMs = 250

interface Held {
  session: Session
  /** The number of the lock. */
  lock: number
}

/**
 *   state    becomes  when
 *   out      joining  it has taken its lock
 *   joining  in       the other nodes have seen it
 *   any      out      its session has ended
 *   any      stopped  the process stops
 */
type State = { kind: 'out' } | ({ kind: 'joining' | 'in' } & Held) | { kind: 'stopped' }

export class Roster {
  readonly #options: RosterOptions
  #state: State = { kind: 'out' }
  #others: string[] = []
  #elsewhere = new Set<string>()
  /** The start of the last heartbeat that succeeded. */
  #readAt = -Infinity
  /** Boards in the last two heartbeats. Other nodes may still ask about them. */
  #registered: [Set<string>, Set<string>] = [new Set(), new Set()]
  /** Boards whose rows are written when the session has run what it was sent. */
  #written = new Set<string>()
  #beatTimer: NodeJS.Timeout | null = null
  readonly #registrations = new QueryBatch({
    query: (boardIds: string[]) => this.#write(boardIds),
    keyOf: (boardId) => boardId,
    perAccount: 1000,
  })

  constructor(options: RosterOptions) {
    this.#options = options
  }

  /**
   * Registers this node. When there are others, it waits until all of them have seen it. Otherwise one of them could
   * still assume that it is alone when the first canvas is opened here.
   *
   * @param dead ids of nodes that are known to be dead: they have no canvases
   */
  async start(dead: string[]): Promise<void> {
    const { database } = this.#options
    if (dead.length > 0)
      await database.callAsSystem(
        (sql) => sql`delete from nodes where node_id = any (${dead}::uuid[])`,
        'follow',
      )
    await this.#enter()
  }

  /** Signs off. All canvases are closed by now. */
  async stop(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'stopped' }
    if (this.#beatTimer) clearTimeout(this.#beatTimer)
    const { id, database } = this.#options
    await database
      .callAsSystem((sql) => sql`delete from nodes where node_id = ${id}`, 'follow')
      .catch(() => undefined)
    if ('session' in state) await state.session.close()
  }

  /** Whether canvases may be opened here. */
  get isSeating(): boolean {
    return this.#state.kind === 'in'
  }

  /**
   * Whether no other node can have a canvas open. A node that joins waits for two heartbeats before it opens a canvas,
   * so a recent heartbeat has seen it.
   */
  get isAlone(): boolean {
    const isRecent = performance.now() - this.#readAt < 1.5 * beatMs
    return this.isSeating && isRecent && this.#others.length === 0
  }

  /** The number of other nodes at the last heartbeat. */
  get others(): number {
    return this.#others.length
  }

  /** Whether this is the id of another node that was alive at the last heartbeat. */
  isOther(node: string): boolean {
    return this.#others.includes(node)
  }

  /** Whether another node had the board open at the last heartbeat, or when it was last asked about. */
  isElsewhere(boardId: string): boolean {
    return this.#elsewhere.has(boardId)
  }

  /** Whether other nodes may believe that this node has the board open. */
  isRegistered(boardId: string): boolean {
    return this.#options.open.has(boardId) || this.#registered.some((boards) => boards.has(boardId))
  }

  /**
   * Registers a board as open on this node. The caller holds it in `open`.
   *
   * @returns the newest position of its log, read after other nodes can see the registration; null when there is no
   * such board
   */
  register(boardId: string): Promise<number | null> {
    return this.#registrations.ask(boardId)
  }

  async #write(boardIds: string[]): Promise<(number | null)[]> {
    const state = this.#state
    if (state.kind !== 'in') throw new Error('This node may open no canvases now.')
    const { id } = this.#options
    const unwritten = boardIds.filter((board) => !this.#written.has(board))
    // From now on, because the session runs statements in order: a heartbeat that removes a row forgets it here when it is
    // sent, maybe before this statement is answered.
    for (const board of unwritten) this.#written.add(board)
    try {
      // Both statements are sent at once, and run one after the other.
      const [, heads] = await Promise.all([
        unwritten.length > 0 &&
          state.session.run(
            (sql) => sql`
              insert into open_boards (node_id, board_id)
              select ${id}, unnest(${unwritten}::uuid[])
              on conflict do nothing`,
          ),
        state.session.run(
          (sql) => sql<{ seq: number | null }[]>`
            select d.seq
            from unnest(${boardIds}::uuid[]) with ordinality as asked(board_id, at)
            left join board_documents d using (board_id)
            order by asked.at`,
        ),
      ])
      return heads.map(({ seq }) => seq)
    } catch (error) {
      for (const board of unwritten) this.#written.delete(board)
      throw error
    }
  }

  /** The other nodes that may have the board open on a canvas. */
  async showing(boardId: string): Promise<string[]> {
    const { id, database } = this.#options
    const rows = await database.callAsSystem(
      (sql) => sql<{ node_id: string }[]>`select nodes_showing(${boardId}, ${id}) as node_id`,
      'follow',
    )
    if (rows.length > 0) this.#elsewhere.add(boardId)
    return rows.map((row) => row.node_id)
  }

  async #enter(): Promise<void> {
    const { database, id } = this.#options
    const session = await database.openSession()
    try {
      const [row] = await session.run((sql) => sql<{ lock: number }[]>`select register_node(${id}) as lock`)
      await this.#beat({ session, lock: row!.lock })
      if (this.#state.kind === 'stopped') return await session.close()
      this.#state = { kind: 'joining', session, lock: row!.lock }
    } catch (error) {
      await session.close()
      throw error
    }
    void session.ended.then(() => this.#lost(session))
    this.#scheduleBeat()
    if (this.#others.length > 0) await delay(2 * beatMs)
    if (this.#state.kind === 'joining' && this.#state.session === session)
      this.#state = { ...this.#state, kind: 'in' }
  }

  #lost(session: Session): void {
    const state = this.#state
    if (!('session' in state) || state.session !== session) return
    this.#state = { kind: 'out' }
    this.#written.clear()
    const { id, log } = this.#options
    log.error({ nodeId: id }, 'this node has lost its lock in the database; closing its canvases')
    void this.#enterAgain()
  }

  async #enterAgain(): Promise<void> {
    await this.#options.closeCanvases()
    while (this.#state.kind === 'out') {
      try {
        await this.#enter()
        const { id, log } = this.#options
        if (this.isSeating) log.info({ nodeId: id }, 'this node holds its lock again and opens canvases')
        return
      } catch {
        await delay(retryMs, undefined, { ref: false })
      }
    }
  }

  /** Writes that this node is alive and which boards it has open. Reads the same of the others. */
  async #beat({ session, lock }: Held): Promise<void> {
    const { id, open, outstanding, onNodesLost, onNodeGone } = this.#options
    const boards = [...new Set([...open.all(), ...outstanding()])]
    this.#registered = [new Set(boards), this.#registered[0]]
    this.#written = new Set(boards.filter((board) => this.#written.has(board)))
    const startedAt = performance.now()
    const [row] = await session.run(
      (sql) => sql<{ others: string[]; elsewhere: string[]; lost: string[] }[]>`
        select others, elsewhere, lost from beat_node(${id}, ${lock}, ${boards}::uuid[])`,
    )
    for (const node of this.#others) if (!row!.others.includes(node)) onNodeGone?.(node)
    this.#others = row!.others
    this.#elsewhere = new Set(row!.elsewhere)
    this.#readAt = startedAt
    for (const board of boards) this.#written.add(board)
    if (row!.lost.length > 0) onNodesLost?.()
    await this.#options.people.write((changes) =>
      session.run(
        (sql) => sql`
          update open_boards o
          set people = p.accounts::uuid[]
          from unnest(
            ${changes.map(([board]) => board)}::uuid[], ${changes.map(([, accounts]) => `{${accounts.join()}}`)}::text[]
          ) as p(board_id, accounts)
          where o.node_id = ${id} and o.board_id = p.board_id`,
      ),
    )
  }

  #scheduleBeat(): void {
    if (this.#beatTimer) clearTimeout(this.#beatTimer)
    this.#beatTimer = setTimeout(() => {
      const state = this.#state
      if (!('session' in state)) return
      this.#beat(state)
        .catch((error: unknown) => this.#options.log.warn({ err: error }, 'heartbeat failed'))
        .finally(() => {
          if ('session' in this.#state && this.#state.session === state.session) this.#scheduleBeat()
        })
    }, beatMs)
  }
}
