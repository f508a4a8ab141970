/** The open streams of `GET /events` of a process, and their bounds. */
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { EventStream } from './event-stream.ts'
import type { Reader, StreamFilter } from './follower.ts'
import { firstFrame } from './frames.ts'
import type { JournalReader } from './journal-reader.ts'

export interface StreamBounds {
  perAccount: number
  total: number
}

export interface StreamRequest {
  reader: Reader
  /** For a session or a guest of a link: the owner, whose streams are bounded together. Null for other accounts. */
  payer: string | null
  wanted: StreamFilter
}

export class EventStreams {
  readonly #journal: JournalReader
  readonly #bounds: StreamBounds
  readonly #all = new Map<EventStream, StreamRequest>()

  constructor(journal: JournalReader, bounds: Partial<StreamBounds> = {}) {
    this.#journal = journal
    this.#bounds = { ...limits.eventStreams, ...bounds }
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
    this.#requireRoom(request)
    const stream = new EventStream(request.reader, request.wanted)
    this.#all.set(stream, request)
    stream.once('close', () => {
      this.#all.delete(stream)
      this.#journal.leave(stream)
    })
    try {
      const begun = await this.#journal.begin(stream, lastEventId)
      stream.put(firstFrame(begun === 'reset' ? 'reset' : 'ready', stream.position))
      if (begun === 'none') stream.finish()
      else if (!stream.isOver) this.#journal.follow(stream)
    } catch (error) {
      stream.destroy()
      throw error
    }
    return stream
  }

  #requireRoom({ reader: { account }, payer }: StreamRequest): void {
    const { perAccount, total } = this.#bounds
    const open = [...this.#all.values()]
    const own = open.filter(({ reader }) => reader.account === account).length
    const paid = payer === null ? 0 : open.filter((other) => other.payer === payer).length
    const most = payer === null ? perAccount : Math.ceil(perAccount * limits.sessions.userShare)
    const again = { retryAfterSeconds: 15 }
    if (own >= most || paid >= perAccount)
      throw new ServiceError(
        'rate_limited',
        `${own >= most ? own : paid} event streams of this account are open here, which is the most. End one, then retry.`,
        again,
      )
    if (open.length >= total)
      throw new ServiceError(
        'storage_unavailable',
        'Too many event streams are open here. Retry in 15 seconds.',
        again,
      )
  }
}
