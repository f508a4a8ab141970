/** Frames of editors that are on their way, and whether the next commit waits for them. */
export class Gathering {
  /** Since the last commit was put together. */
  #arrived = 0
  /** How many the next one waits for. */
  #company = 0
  #gathered: (() => void) | null = null

  arrive(frames: number): void {
    this.#arrived += frames
    if (this.#arrived >= this.#company) this.#gathered?.()
  }

  /** A commit is put together. @returns the frames in it */
  take(): number {
    const frames = this.#arrived
    this.#arrived = 0
    return frames
  }

  /**
   * Editors whose edits were acknowledged together answer within a moment of each other. When they are many, the next
   * commit waits until most of them are there again, for two milliseconds at the most: a third of the commits, and of
   * the writes to every socket, for the same edits.
   *
   * @param frames of the last commit
   */
  async wait(frames: number): Promise<void> {
    this.#company = Math.floor(frames * 0.8)
    if (frames < gatherFrom || this.#arrived >= this.#company) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, gatherMs)
    this.#gathered = resolve
    await promise
    this.#gathered = null
    clearTimeout(timer)
  }
}

/** From so many frames in one commit on, the next one waits for company; and for how long. */
const gatherFrom = 8
const gatherMs = 2
