/** One answer of `GET /events`: a stream of bytes, its position in the journal, and what its client has asked for. */
import { Readable } from 'node:stream'
import type { Follower, Reader, StreamFilter } from './follower.ts'
import { frameOf, keepAliveFrame } from './frames.ts'
import type { EventMessage } from './messages.ts'
import type { Position } from './position.ts'

/** A finished stream is cut off after this time, if its client has not read the rest. */
const finishMs = 1000
const bufferBytes = 64 * 1024

export class EventStream extends Readable implements Follower {
  readonly reader: Reader
  readonly wanted: StreamFilter
  readonly isList = false
  position: Position = { at: new Date(0), place: 0 }
  #isFinishing = false
  #tellRoom: (() => void) | null = null

  constructor(reader: Reader, wanted: StreamFilter) {
    super({ highWaterMark: bufferBytes })
    this.reader = reader
    this.wanted = wanted
  }

  override _read(): void {
    this.#tellRoom?.()
  }

  get isOver(): boolean {
    return this.destroyed || this.#isFinishing
  }

  get hasRoom(): boolean {
    return this.readableLength < bufferBytes
  }

  get unreadBytes(): number {
    return this.readableLength
  }

  send(message: EventMessage): void {
    this.put(frameOf(message))
  }

  put(frame: Buffer): void {
    if (!this.isOver) this.push(frame)
  }

  keepAlive(): void {
    if (this.hasRoom) this.put(keepAliveFrame(this.position))
  }

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

  /** What the client has not read within `finishMs` is lost. */
  finish(): void {
    if (this.isOver) return
    this.#isFinishing = true
    this.push(null)
    setTimeout(() => this.destroy(), finishMs).unref()
  }

  cutOff(): void {
    this.destroy()
  }
}
