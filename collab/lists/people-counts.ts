/**
 * How many people are on each board, on all nodes. Each node writes its own at its heartbeat (collab/documents/roster.ts).
 * While lists are open here, one statement a second reads all counts, and another one who may see those that changed.
 */
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../platform/log.ts'
import type { Database, Statement } from '../../sql/database.ts'
import { readerKey } from '../events/follower.ts'
import { audienceOf, readAudiences } from '../events/read-journal.ts'
import type { List } from './list.ts'

const everyMs = 1000
/** Lists that are told in one turn of the event loop. */
const listsPerTurn = 50

interface Count {
  board_id: string
  workspace_id: string
  people: number
}

export class PeopleCounts {
  readonly #options: { database: Database; log: Logger }
  readonly #lists = new Set<List>()
  #known = new Map<string, Count>()
  #isRunning = false

  constructor(options: { database: Database; log: Logger }) {
    this.#options = options
  }

  follow(list: List): void {
    this.#lists.add(list)
    if (!this.#isRunning) void this.#run()
  }

  leave(list: List): void {
    this.#lists.delete(list)
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    let isFailing = false
    while (this.#lists.size > 0) {
      try {
        await this.#tick()
        isFailing = false
      } catch (error) {
        for (const list of this.#lists) list.owesPeople = true // it may lack what has changed
        if (!isFailing)
          this.#options.log.warn({ err: error }, 'the people on boards could not be counted; retrying')
        isFailing = true
      }
      await delay(everyMs, undefined, { ref: false })
    }
    this.#isRunning = false
  }

  async #tick(): Promise<void> {
    const before = this.#known
    const now = await this.#read()
    const changed = changesBetween(before, now)
    const lists = [...this.#lists].filter((list) => !list.isOver)
    const behind = new Set(lists.filter((list) => list.owesPeople || (changed.size > 0 && !list.hasRoom)))
    const ready = [...behind].filter((list) => list.hasRoom)
    // What a list owes is decided here: while the others are told, it may come to owe all counts once more.
    for (const list of behind) list.owesPeople = !list.hasRoom
    this.#known = now
    await this.#tell(
      lists.filter((list) => !behind.has(list)),
      [...changed.values()],
      false,
    )
    await this.#tell(ready, [...now.values()], true)
  }

  /** Sends each list the counts of the boards that its reader may see. */
  async #tell(lists: List[], counts: Count[], all: boolean): Promise<void> {
    if (lists.length === 0 || (counts.length === 0 && !all)) return
    const visible = await this.#visibleTo(lists, counts)
    for (const [at, list] of lists.entries()) {
      if (at % listsPerTurn === listsPerTurn - 1) await immediate()
      if (!list.isOver) list.tellPeople(visible(list), all)
    }
  }

  async #visibleTo(lists: List[], counts: Count[]): Promise<(list: List) => [string, number][]> {
    const audience = audienceOf(lists.map(({ reader }) => reader))
    const byWorkspace = Map.groupBy(counts, ({ workspace_id }) => workspace_id)
    const byBoard = new Map(counts.map((count) => [count.board_id, [count]]))
    const places = { workspaces: [...byWorkspace.keys()], boards: [...byBoard.keys()] }
    const rows = counts.length === 0 ? [] : await this.#ask((sql) => readAudiences(sql, places, audience))
    const seenBy = new Map<string, Count[]>()
    const see = (key: string, seen: Count[]) => {
      const all = seenBy.getOrInsertComputed(key, () => [])
      for (const count of seen) all.push(count)
    }
    for (const { id, accounts, sessions } of rows) {
      const seen = byWorkspace.get(id) ?? byBoard.get(id)!
      for (const account of accounts) see(account, seen)
      for (const reader of sessions.map((nth) => audience.sessions[nth]!)) {
        const { boards } = reader.session!
        see(readerKey(reader), boards ? seen.filter(({ board_id }) => boards.includes(board_id)) : seen)
      }
    }
    return ({ reader, workspace }) =>
      (seenBy.get(readerKey(reader)) ?? [])
        .filter(({ workspace_id }) => workspace === undefined || workspace === workspace_id)
        .map(({ board_id, people }) => [board_id, people])
  }

  async #read(): Promise<Map<string, Count>> {
    const rows = await this.#ask(
      (sql) => sql<Count[]>`
        with alive as materialized (
          select node_id from nodes n where node_may_show(n.lock_number, n.lost_at, n.seen_at)
        )
        select o.board_id, b.workspace_id, count(distinct p.account)::integer as people
        from open_boards o
        join alive using (node_id)
        join boards b on b.id = o.board_id
        cross join lateral unnest(o.people) as p(account)
        group by o.board_id, b.workspace_id`,
    )
    return new Map(rows.map((row) => [row.board_id, row]))
  }

  #ask<T>(question: (sql: Statement) => Promise<T>): Promise<T> {
    return this.#options.database.callAsSystem(question, 'follow')
  }
}

/** The counts that are new or changed. A board that nobody is on any more has 0. */
function changesBetween(before: Map<string, Count>, now: Map<string, Count>): Map<string, Count> {
  const changed = new Map<string, Count>()
  for (const [board, count] of now) if (before.get(board)?.people !== count.people) changed.set(board, count)
  for (const [board, count] of before) if (!now.has(board)) changed.set(board, { ...count, people: 0 })
  return changed
}
