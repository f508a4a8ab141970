/** One answer of `GET /events`: a stream of bytes, its position in the journal, and what its client has asked for. */
import { Readable } from 'node:stream'
import { isAfter, type JournalEvent, type Position } from './read-journal.ts'

export interface StreamRequest {
  account: string
  tokenId: string
  filter: StreamFilter
}

/** What the client asks for. Undefined: everything that it may see. */
export interface StreamFilter {
  workspace?: string | undefined
  board?: string | undefined
  types?: string[] | undefined
}

/** A finished stream is cut off after this time, if its client has not read the rest. */
const finishMs = 1000
const bufferBytes = 64 * 1024

export class EventStream extends Readable {
  readonly account: string
  readonly tokenId: string
  readonly #filter: StreamFilter
  /** All events up to this position were sent, or were not for this stream. */
  position: Position = { at: new Date(0), place: 0 }
  #isFinishing = false
  #tellRoom: (() => void) | null = null

  constructor({ account, tokenId, filter }: StreamRequest) {
    super({ highWaterMark: bufferBytes })
    this.account = account
    this.tokenId = tokenId
    this.#filter = filter
  }

  override _read(): void {
    this.#tellRoom?.()
  }

  get isOver(): boolean {
    return this.destroyed || this.#isFinishing
  }

  /** Whether the client has read most of what was sent. */
  get hasRoom(): boolean {
    return this.readableLength < bufferBytes
  }

  /** Whether the event comes after the stream's position, and the account may see it and wants it. */
  takes(event: JournalEvent): boolean {
    const { workspace, board, types } = this.#filter
    return (
      isAfter(event, this.position) &&
      event.readers.includes(this.account) &&
      (workspace === undefined || event.workspace_id === workspace) &&
      (board === undefined || event.board_id === board) &&
      (types === undefined || types.includes(event.type))
    )
  }

  send(frame: Buffer): void {
    if (!this.isOver) this.push(frame)
  }

  /** Waits until there is room, the stream is over, or `ms` have passed. */
  async room(ms: number): Promise<void> {
    if (this.hasRoom || this.isOver) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.off('close', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#tellRoom = done
      this.once('close', done)
    })
  }

  /** Ends the stream. What the client has not read within `finishMs` is lost. */
  finish(): void {
    if (this.isOver) return
    this.#isFinishing = true
    this.push(null)
    setTimeout(() => this.destroy(), finishMs).unref()
  }
}
