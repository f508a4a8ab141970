/**
 * The frames of one socket, one after the other, and a bounded number in each turn of the event loop: who sends
 * thousands at once waits, not the others. While some wait, the socket is not read any further.
 */
export interface IntakeOptions {
  /** Takes a frame; a promise when the next one has to wait for it. */
  take(frame: Uint8Array): Promise<void> | null
  isOpen(): boolean
  pause(): void
  resume(): void
}

const framesPerTurn = 64
/** For how many a frame counts that the next one has to wait for. */
const slowFrameCounts = 8
/** A frame that took longer makes its socket rest for a multiple of the time. */
const restAfterMs = 20
const restFactor = 3
const maxRestMs = 5000

export class Intake {
  readonly #options: IntakeOptions
  readonly #waiting: Uint8Array[] = []
  #halted = false
  #turn = -1
  #left = 0

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  receive(frame: Uint8Array): void {
    this.#waiting.push(frame)
    if (!this.#halted) this.#work()
  }

  readonly #work = (): void => {
    this.#halted = false
    const { take, isOpen, pause, resume } = this.#options
    while (this.#waiting.length > 0 && !this.#halted) {
      if (!isOpen()) {
        this.#waiting.length = 0
      } else if (!this.#mayTake()) {
        this.#halted = true
        setImmediate(this.#work)
      } else {
        const done = take(this.#waiting.shift()!)
        if (!done) continue
        this.#halted = true
        this.#left -= slowFrameCounts - 1
        const since = performance.now()
        const go = () => this.#rest(performance.now() - since)
        done.then(go, go)
      }
    }
    if (this.#halted) pause()
    else resume()
  }

  #rest(tookMs: number): void {
    if (tookMs > restAfterMs) setTimeout(this.#work, Math.min(maxRestMs, restFactor * tookMs))
    else this.#work()
  }

  #mayTake(): boolean {
    const turn = currentTurn()
    if (this.#turn !== turn) {
      this.#turn = turn
      this.#left = framesPerTurn
    }
    this.#left -= 1
    return this.#left >= 0
  }
}

let turn = 0
let isCounting = false

/** The number of the event loop's turn; counted for all sockets at once. */
function currentTurn(): number {
  if (!isCounting) {
    isCounting = true
    setImmediate(() => {
      turn += 1
      isCounting = false
    })
  }
  return turn
}
