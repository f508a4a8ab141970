/**
 * Takes the frames of one socket in order, at most a fixed number in each turn of the event loop. While a frame waits,
 * the socket is not read. So a client that sends too much slows down only itself.
 */
import { WebSocket } from 'ws'
import { mark } from '../../platform/work/loop-watchdog.ts'

export interface IntakeOptions<Frame> {
  /** Milliseconds that this frame, and the frames behind it, must wait. */
  waitMs(frame: Frame): number
  /** Handles a frame. Returns a promise when the next frame has to wait for it; see `noRest`. */
  take(frame: Frame): Promise<unknown> | null
  socket: Pick<WebSocket, 'readyState' | 'pause' | 'resume'>
}

/** What the promise of a frame resolves to when the time was not spent for the frame alone: its socket need not rest. */
export const noRest = Symbol('no rest')

const framesPerTurn = 64
/** A frame for which the next one waits counts as this many. */
const slowFrameCounts = 8
/**
 * After so many frames the count begins anew with the next turn of the event loop. So few frames need no look at the turns,
 * which would cost a pass through the loop for each of them.
 */
const framesPerLook = 8
/** After a frame that took longer than this, the socket rests for `restFactor` times as long. */
const restAfterMs = 20
const restFactor = 3
const maxRestMs = 500

export class Intake<Frame> {
  readonly #options: IntakeOptions<Frame>
  readonly #waiting: Frame[] = []
  /** The number of calls of `hold` without their `release`. Above 0, no frame is taken. */
  #holds = 0
  /** The number of frames since `#begin`, at least those of this turn. */
  #taken = 0
  #isLooking = false

  constructor(options: IntakeOptions<Frame>) {
    this.#options = options
  }

  receive(frame: Frame): void {
    this.#waiting.push(frame)
    this.#work()
  }

  /** Stops taking frames and reading the socket. Each call needs its own call of `release`. */
  hold(): void {
    this.#holds += 1
    this.#options.socket.pause()
  }

  readonly release = (): void => {
    this.#holds -= 1
    this.#work()
  }

  rest(ms: number): void {
    this.hold()
    setTimeout(this.release, ms)
  }

  get isHeld(): boolean {
    return this.#holds > 0
  }

  #work(): void {
    const { socket, waitMs } = this.#options
    mark('frames of a socket')
    while (this.#waiting.length > 0 && !this.isHeld) {
      const isOpen = socket.readyState === WebSocket.OPEN
      const ms = isOpen ? waitMs(this.#waiting[0] as Frame) : 0
      if (!isOpen) this.#waiting.length = 0
      else if (ms > 0) this.rest(ms)
      else if (this.#mayTake()) this.#takeNext()
      else {
        this.hold()
        setImmediate(this.release)
      }
    }
    if (!this.isHeld) socket.resume()
  }

  #takeNext(): void {
    const done = this.#options.take(this.#waiting.shift() as Frame)
    if (!done) return
    this.hold()
    this.#taken += slowFrameCounts - 1
    const since = performance.now()
    const go = (result: unknown) => {
      const tookMs = performance.now() - since
      if (tookMs > restAfterMs && result !== noRest)
        setTimeout(this.release, Math.min(maxRestMs, restFactor * tookMs))
      else this.release()
    }
    done.then(go, go)
  }

  #mayTake(): boolean {
    this.#taken += 1
    if (this.#taken >= framesPerLook && !this.#isLooking) {
      this.#isLooking = true
      setImmediate(this.#begin)
    }
    return this.#taken <= framesPerTurn
  }

  readonly #begin = (): void => {
    this.#isLooking = false
    this.#taken = 0
  }
}
