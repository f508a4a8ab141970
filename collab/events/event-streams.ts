/**
 * The streams of `GET /events` of a process. One reader serves all of them: a tick is two statements, whatever the number
 * of streams. The first gets the horizon, and looks for tokens that have ended. The second reads what is new in the
 * journal, with the accounts that may see it. Without streams nothing is read.
 *
 * A stream that resumes reads by itself what it has missed, page by page, as fast as its client reads. So does one whose
 * client reads too slowly for the others.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Statement } from '../../sql/database.ts'
import { EventStream, type StreamRequest } from './event-stream.ts'
import { firstFrame, frameOf, keepAliveFrame } from './frames.ts'
import {
  isAfter,
  isKept,
  positionOf,
  readHorizon,
  readJournal,
  type JournalEvent,
  type Position,
} from './read-journal.ts'

/** The time between two ticks: as often as the gateway looks whether editors still have their access. */
const everyMs = 750
/** The time from a wake-up to its tick. Several wake-ups cause one. */
const soonMs = 50
/** Events of one page. A client has at most so many unread, and 64 KB. */
const pageEvents = 500

export interface EventStreamBounds {
  perAccount: number
  total: number
  /** A stream is cut off when its client reads nothing for this time while more waits to be sent. */
  stalledMs: number
  /** How often a stream gets a line that means nothing. */
  keepAliveMs: number
}

export interface EventStreamsOptions {
  database: Database
  log: Logger
  bounds?: Partial<EventStreamBounds> | undefined
}

export class EventStreams {
  readonly #options: EventStreamsOptions
  readonly #bounds: EventStreamBounds
  readonly #all = new Set<EventStream>()
  /** Those that have everything up to `#cursor`. The reader serves them. */
  readonly #current = new Set<EventStream>()
  /** Up to where the reader has read. Null while there are no streams. */
  #cursor: Position | null = null
  /** The page that the reader is reading. */
  #page: Promise<unknown> | null = null
  /** Ends the wait for the next tick. */
  #tickSoon: (() => void) | null = null
  #wanted = false
  /** From when on a tick looks for tokens that have ended. */
  #checkAtMs = 0
  #stopped = false

  constructor(options: EventStreamsOptions) {
    this.#options = options
    this.#bounds = { ...limits.eventStreams, ...options.bounds }
  }

  get count(): number {
    return this.#all.size
  }

  /**
   * Opens a stream that begins after the event `lastEventId`; without it, with the next event.
   *
   * @throws ServiceError `rate_limited` or `storage_unavailable`
   */
  async open(request: StreamRequest, lastEventId: string | undefined): Promise<EventStream> {
    this.#requireRoom(request.account)
    const stream = new EventStream(request)
    this.#all.add(stream)
    stream.once('close', () => {
      this.#all.delete(stream)
      this.#current.delete(stream)
    })
    try {
      await this.#begin(stream, lastEventId)
    } catch (error) {
      stream.destroy()
      throw error
    }
    if (this.#stopped) stream.finish()
    return stream
  }

  /** Reads soon, because events were appended. */
  wake(): void {
    this.#wanted = true
    this.#tickSoon?.()
  }

  /** Looks soon for tokens that have ended. */
  checkAccessSoon(): void {
    this.#checkAtMs = 0
    this.wake()
  }

  /** Ends all streams. */
  stop(): void {
    this.#stopped = true
    for (const stream of this.#all) stream.finish()
    this.#tickSoon?.()
  }

  #requireRoom(account: string): void {
    const { perAccount, total } = this.#bounds
    const own = [...this.#all].filter((stream) => stream.account === account).length
    const again = { retryAfterSeconds: 15 }
    if (own >= perAccount)
      throw new ServiceError(
        'rate_limited',
        `${own} event streams of this account are open here, which is the most. End one, then retry.`,
        again,
      )
    if (this.#all.size >= total)
      throw new ServiceError(
        'storage_unavailable',
        'Too many event streams are open here. Retry in 15 seconds.',
        again,
      )
  }

  async #begin(stream: EventStream, lastEventId: string | undefined): Promise<void> {
    const last = lastEventId === undefined ? null : positionOf(lastEventId)
    const isLost = lastEventId !== undefined && !(last && (await this.#ask((sql) => isKept(sql, last))))
    const { horizon } = await this.#ask((sql) => readHorizon(sql, []))
    stream.position = last && !isLost ? last : horizon
    stream.send(firstFrame(isLost ? 'reset' : 'ready', stream.position))
    if (!this.#cursor) {
      this.#cursor = horizon
      void this.#read()
    }
    void this.#catchUp(stream)
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
        for (const stream of this.#all) if (stream.hasRoom) stream.send(keepAliveFrame(stream.position))
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
    const tokenIds = isDue ? [...new Set([...this.#all].map(({ tokenId }) => tokenId))] : []
    const { horizon, ended } = await this.#ask((sql) => readHorizon(sql, tokenIds))
    const endedTokens = new Set(ended)
    for (const stream of this.#all) if (endedTokens.has(stream.tokenId)) stream.finish()
    try {
      for (let isMore = this.#current.size > 0; isMore;) isMore = await (this.#page = this.#readPage(horizon))
    } finally {
      this.#page = null
    }
  }

  /** @returns whether there may be more before the horizon */
  async #readPage(horizon: Position): Promise<boolean> {
    const streams = [...this.#current]
    const events = await this.#pageFor(streams, this.#cursor!, horizon)
    this.#cursor = endOf(events, this.#cursor!, horizon)
    for (const stream of streams) {
      if (stream.hasRoom) continue
      this.#current.delete(stream)
      void this.#catchUp(stream)
    }
    sendTo(
      streams.filter((stream) => this.#current.has(stream)),
      events,
      this.#cursor,
    )
    return events.length === pageEvents
  }

  // ---- streams behind the reader

  /** Sends what the stream has missed, and leaves it to the reader. */
  async #catchUp(stream: EventStream): Promise<void> {
    try {
      while (!stream.isOver && !this.#stopped) {
        const unread = stream.readableLength
        await stream.room(this.#bounds.stalledMs)
        if (stream.isOver) return
        if (!stream.hasRoom && stream.readableLength === unread) stream.destroy()
        else if (!stream.hasRoom) continue
        else if (this.#page) await this.#page.catch(() => undefined)
        else if (!isAfter(this.#cursor!, stream.position)) return void this.#current.add(stream)
        else await this.#sendMissed(stream, this.#cursor!)
      }
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        'a stream of events could not be resumed; its client has to reconnect',
      )
      stream.destroy()
    }
  }

  async #sendMissed(stream: EventStream, until: Position): Promise<void> {
    const events = await this.#pageFor([stream], stream.position, until)
    sendTo([stream], events, endOf(events, stream.position, until))
  }

  #pageFor(streams: EventStream[], after: Position, until: Position): Promise<JournalEvent[]> {
    const accounts = [...new Set(streams.map(({ account }) => account))]
    return this.#ask((sql) => readJournal(sql, { after, until, accounts, limit: pageEvents }))
  }

  #ask<T>(question: (sql: Statement) => Promise<T>): Promise<T> {
    return this.#options.database.callAsSystem(question, 'follow')
  }
}

/** The position after a page that was read up to `until`. */
function endOf(events: JournalEvent[], after: Position, until: Position): Position {
  const last = events.at(-1)
  if (events.length === pageEvents) return { at: last!.at, place: last!.place }
  return isAfter(until, after) ? until : after
}

function sendTo(streams: EventStream[], events: JournalEvent[], end: Position): void {
  for (const event of events) {
    if (event.payload === null) continue
    const frameFor = frameOf(event)
    for (const stream of streams) if (stream.takes(event)) stream.send(frameFor(stream.account))
  }
  for (const stream of streams) if (isAfter(end, stream.position)) stream.position = end
}
