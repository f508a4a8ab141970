/** Tells which changes of a document in memory are in the log up to a given position: all before a certain time. */
import type { EditBacklog } from '../commit/edit-backlog.ts'

/** Times that are closer together are kept as one. */
const apartMs = 50

/** For a log that grows while the index does not. Only the newest times are kept. */
const mostTimes = 1000

export class LogTimes {
  /** Changes before `at` are in the log up to `seq`. In order of both. */
  #times: { at: number; seq: number }[] = []
  /** Edits before `at` are committed when the backlog has committed `mark`. */
  #next: { at: number; mark: number } | null = null

  /**
   * Records what is in memory now: the log, and edits that are not committed yet.
   *
   * @param seq the newest position that is known; every commit of these edits that was answered is part of it
   */
  reached(seq: number, edits: EditBacklog): void {
    const now = { at: performance.now(), mark: edits.mark }
    this.#next ??= now
    if (edits.hasCommitted(now.mark)) this.#next = now
    if (!edits.hasCommitted(this.#next.mark)) return
    this.#add({ at: this.#next.at, seq })
    this.#next = this.#next === now ? null : now
  }

  #add(time: { at: number; seq: number }): void {
    const before = this.#times.at(-2)
    if (before && time.at - before.at < apartMs) this.#times.pop()
    this.#times.push(time)
    if (this.#times.length > mostTimes) this.#times.shift()
  }

  /** Returns the time before which all changes are at most at this position; null when none is known. Forgets it. */
  take(seq: number): number | null {
    const later = this.#times.findIndex((time) => time.seq > seq)
    const upTo = this.#times.splice(0, later === -1 ? this.#times.length : later)
    return upTo.at(-1)?.at ?? null
  }
}
