/**
 * Reads the journal of events for all its followers in a process: streams of `GET /events`, and live lists. A tick is two
 * statements, whatever the number of followers. The first gets the horizon, and looks for followers whose access has ended.
 * The second reads what is new in the journal, with those who may see it. Without followers nothing is read.
 *
 * A follower that resumes is sent what it has missed page by page, as fast as its client reads. So is one whose client
 * reads too slowly for the others.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { RareWarning } from '../../platform/rare-warning.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { QueryBatch } from '../../platform/work/query-batch.ts'
import type { Database, Statement } from '../../sql/database.ts'
import { readerKey, wants, type Follower } from './follower.ts'
import { messagesOf } from './messages.ts'
import { isAfter, positionOf, type JournalEvent, type Position } from './position.ts'
import { accessKey, audienceOf, readHorizon, readJournal, type Audience } from './read-journal.ts'

/** The time between two ticks: as often as the gateway looks whether editors still have their access. */
const everyMs = 750
/** The time from a wake-up to its tick. Several wake-ups cause one. */
const soonMs = 50
/** Events of one page. A client has at most so many unread, and 64 KB. */
const pageEvents = 500

export interface JournalBounds {
  /** A follower is cut off when its client reads nothing for this time while more waits to be sent. */
  stalledMs: number
  /** How often a follower gets a keep-alive. */
  keepAliveMs: number
}

export interface JournalReaderOptions {
  database: Database
  log: Logger
  bounds?: Partial<JournalBounds> | undefined
}

/** How a follower begins. `none`: it has no access. `reset`: events before its position may be missing. */
export type Beginning = 'ready' | 'reset' | 'none'

export class JournalReader {
  readonly #options: JournalReaderOptions
  readonly #bounds: JournalBounds
  readonly #failed: RareWarning
  /** Followers that begin at the same moment share a statement. */
  readonly #beginnings = new QueryBatch({
    query: async (followers: Follower[]) => {
      const { horizon, ended } = await this.#ask((sql) => readHorizon(sql, followers))
      return followers.map((follower) => ({ horizon, hasAccess: !ended.has(accessKey(follower)) }))
    },
    keyOf: accessKey,
    perAccount: 1000,
  })
  /** Pages for those that resume. An account reads one at a time, so that a thousand lists of it stall nobody. */
  readonly #pages = new FairQueue({ atOnce: 4, atOncePerAccount: 1 })
  readonly #all = new Set<Follower>()
  /** Those that have everything up to `#cursor`. The reader serves them. */
  readonly #current = new Set<Follower>()
  /** Up to where the reader has read. Null while there are no followers. */
  #cursor: Position | null = null
  /** The horizon when a follower last began. */
  #begunAt: Position | null = null
  /** The page that the reader is reading. */
  #page: Promise<unknown> | null = null
  /** Ends the wait for the next tick. */
  #tickSoon: (() => void) | null = null
  #wanted = false
  /** From when on a tick looks for access that has ended. */
  #checkAtMs = 0
  #stopped = false

  constructor(options: JournalReaderOptions) {
    this.#options = options
    this.#bounds = { ...limits.eventStreams, ...options.bounds }
    this.#failed = new RareWarning(
      options.log,
      'streams of events could not be resumed; their clients have to reconnect',
    )
  }

  /**
   * Gives the follower its position: after the event `lastEventId`, or without it, that of now. `follow` begins to send.
   *
   * @throws ServiceError `storage_unavailable`
   */
  async begin(follower: Follower, lastEventId: string | undefined): Promise<Beginning> {
    const { horizon, hasAccess } = await this.#beginnings.ask(follower)
    const last = lastEventId === undefined ? null : keptPosition(lastEventId, horizon)
    this.#begunAt = horizon
    follower.position = last ?? horizon
    if (!hasAccess) return 'none'
    return lastEventId !== undefined && !last ? 'reset' : 'ready'
  }

  /** Sends the follower everything after its position, until `leave`. */
  follow(follower: Follower): void {
    if (this.#stopped) return follower.finish('stop')
    this.#all.add(follower)
    if (!this.#cursor) {
      this.#cursor = this.#begunAt ?? follower.position
      void this.#read()
    }
    void this.#catchUp(follower)
  }

  leave(follower: Follower): void {
    this.#all.delete(follower)
    this.#current.delete(follower)
  }

  /** Sends a follower what came after an event again. @returns false when the journal has not kept all of it */
  rewind(follower: Follower, lastEventId: string): boolean {
    const last = keptPosition(lastEventId, this.#cursor ?? follower.position)
    if (last && isAfter(follower.position, last)) {
      follower.position = last
      if (this.#current.delete(follower)) void this.#catchUp(follower)
    }
    return last !== null
  }

  /** Reads soon, because events were appended. */
  wake(): void {
    this.#wanted = true
    this.#tickSoon?.()
  }

  /** Looks soon for access that has ended. */
  checkAccessSoon(): void {
    this.#checkAtMs = 0
    this.wake()
  }

  /** Ends all followers. */
  stop(): void {
    this.#stopped = true
    for (const follower of this.#all) follower.finish('stop')
    this.#tickSoon?.()
  }

  // ---- the reader

  async #read(): Promise<void> {
    let isFailing = false
    let keptAliveMs = performance.now()
    while (this.#all.size > 0 && !this.#stopped) {
      try {
        await this.#tick()
        isFailing = false
      } catch (error) {
        if (!isFailing)
          this.#options.log.warn({ err: error }, 'the journal of events could not be read; retrying')
        isFailing = true
      }
      if (performance.now() - keptAliveMs >= this.#bounds.keepAliveMs) {
        keptAliveMs = performance.now()
        for (const follower of this.#all) follower.keepAlive()
      }
      await this.#nextTick()
    }
    this.#cursor = null
  }

  async #nextTick(): Promise<void> {
    if (!this.#wanted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs)
        this.#tickSoon = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#tickSoon = null
    if (this.#wanted) await delay(soonMs)
    this.#wanted = false
  }

  async #tick(): Promise<void> {
    const nowMs = performance.now()
    const isDue = nowMs >= this.#checkAtMs
    if (isDue) this.#checkAtMs = nowMs + everyMs / 2 // while others write, a tick comes every 50 ms
    const checked = isDue ? [...this.#all] : []
    const { horizon, ended } = await this.#ask((sql) => readHorizon(sql, checked))
    if (ended.size > 0)
      for (const follower of checked) if (ended.has(accessKey(follower))) follower.finish('access')
    try {
      for (let isMore = this.#current.size > 0; isMore;) isMore = await (this.#page = this.#readPage(horizon))
    } finally {
      this.#page = null
    }
  }

  /** @returns whether there may be more before the horizon */
  async #readPage(horizon: Position): Promise<boolean> {
    const followers = [...this.#current]
    const audience = audienceOf(followers.map(({ reader }) => reader))
    const events = await this.#pageFor(audience, this.#cursor!, horizon)
    this.#cursor = endOf(events, this.#cursor!, horizon)
    for (const follower of followers) {
      if (follower.hasRoom) continue
      this.#current.delete(follower)
      void this.#catchUp(follower)
    }
    sendTo(
      followers.filter((follower) => this.#current.has(follower)),
      { audience, events, end: this.#cursor },
    )
    return events.length === pageEvents
  }

  // ---- followers behind the reader

  /** Sends what the follower has missed, and leaves it to the reader. */
  async #catchUp(follower: Follower): Promise<void> {
    try {
      while (!follower.isOver && !this.#stopped) {
        const unread = follower.unreadBytes
        await follower.room(this.#bounds.stalledMs)
        if (follower.isOver || !this.#all.has(follower)) return
        if (!follower.hasRoom && follower.unreadBytes === unread) follower.cutOff('slow')
        else if (!follower.hasRoom) continue
        else if (this.#page) await this.#page.catch(() => undefined)
        else if (!isAfter(this.#cursor!, follower.position)) return void this.#current.add(follower)
        else
          await this.#pages.run(follower.reader.account, async () => {
            if (!follower.isOver && !this.#page) await this.#sendMissed(follower, this.#cursor!)
          })
      }
    } catch (error) {
      this.#failed.add({ err: error })
      follower.cutOff('fault')
    }
  }

  async #sendMissed(follower: Follower, until: Position): Promise<void> {
    const { position } = follower
    const audience = audienceOf([follower.reader])
    const events = await this.#pageFor(audience, position, until)
    if (follower.position !== position) return // it was rewound meanwhile
    sendTo([follower], { audience, events, end: endOf(events, position, until) })
  }

  #pageFor(audience: Audience, after: Position, until: Position): Promise<JournalEvent[]> {
    return this.#ask((sql) => readJournal(sql, { after, until, audience, limit: pageEvents }))
  }

  #ask<T>(question: (sql: Statement) => Promise<T>): Promise<T> {
    return this.#options.database.callAsSystem(question, 'follow')
  }
}

/**
 * The position of an id, when the journal has everything after it. It is judged by a recent position, not by a query:
 * thousands of clients come back at once.
 */
function keptPosition(id: string, now: Position): Position | null {
  const position = positionOf(id)
  const ageMs = now.at.getTime() - (position?.at.getTime() ?? NaN)
  return ageMs >= -aheadMs && ageMs <= limits.eventStreams.days * dayMs ? position : null
}

const dayMs = 24 * 3_600_000
/** Another process may have read further. */
const aheadMs = 60_000

/** The position after a page that was read up to `until`. */
function endOf(events: JournalEvent[], after: Position, until: Position): Position {
  const last = events.at(-1)
  if (events.length === pageEvents) return { at: last!.at, place: last!.place }
  return isAfter(until, after) ? until : after
}

interface Page {
  audience: Audience
  events: JournalEvent[]
  end: Position
}

function sendTo(followers: Follower[], { audience, events, end }: Page): void {
  if (events.some(({ payload }) => payload !== null)) {
    const byReader = Map.groupBy(followers, ({ reader }) => readerKey(reader))
    for (const event of events) if (event.payload !== null) sendEvent(event, audience, byReader)
  }
  for (const follower of followers) if (isAfter(end, follower.position)) follower.position = end
}

function sendEvent(event: JournalEvent, { sessions }: Audience, byReader: Map<string, Follower[]>): void {
  const messageFor = messagesOf(event)
  const deliver = (key: string, isMember: boolean) => {
    for (const follower of byReader.get(key) ?? [])
      if (!follower.isOver && wants(follower, event)) follower.send(messageFor(isMember))
  }
  for (const account of event.readers) deliver(account, event.members.includes(account))
  for (const nth of event.sessions) {
    const reader = sessions[nth]!
    deliver(readerKey(reader), reader.session!.boards === null)
  }
}
