/**
 * Turns for large bodies. A body takes several times its size in memory until its request is answered, so only a bounded
 * number of bytes is let in at once, and accounts take turns. Who has no turn yet is not read from.
 */
import { ServiceError } from '../../../core/errors.ts'
import { limits } from '../../../core/limits.ts'

interface Waiting {
  bytes: number
  admit(): void
}

export class LargeBodies {
  #bytes = 0
  readonly #bytesOf = new Map<string, number>()
  /** By account, each first in first out. The account whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingCount = 0

  /**
   * @param bytes of the body, or as many as it may have
   * @returns what gives them back; calling it again does nothing
   * @throws ServiceError `rate_limited` when too many bodies of the account wait, `storage_unavailable` when too many wait
   * in all, or its turn did not come in time
   */
  async take(account: string, bytes: number): Promise<() => void> {
    if (this.#waiting.has(account) || !this.#fits(account, bytes)) await this.#turn(account, bytes)
    else this.#add(account, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#add(account, -bytes)
      this.#admit()
    }
  }

  #fits(account: string, bytes: number): boolean {
    return this.#fitsAccount(account, bytes) && this.#bytes + bytes <= limits.largeBodies.bytes
  }

  #fitsAccount(account: string, bytes: number): boolean {
    return (this.#bytesOf.get(account) ?? 0) + bytes <= limits.largeBodies.bytesPerAccount
  }

  #add(account: string, bytes: number): void {
    this.#bytes += bytes
    const left = (this.#bytesOf.get(account) ?? 0) + bytes
    if (left > 0) this.#bytesOf.set(account, left)
    else this.#bytesOf.delete(account)
  }

  #turn(account: string, bytes: number): Promise<void> {
    const { waiting, waitingPerAccount, waitMs } = limits.largeBodies
    const line = this.#waiting.get(account) ?? []
    if (line.length >= waitingPerAccount)
      throw new ServiceError(
        'rate_limited',
        `${waitingPerAccount} other large bodies of this account wait already. Send them one after the other, and retry in 5 seconds.`,
        { retryAfterSeconds: 5 },
      )
    if (this.#waitingCount >= waiting) throw busy()
    this.#waiting.set(account, line)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(account, waiter)
        reject(busy())
        this.#admit() // it may have been what held up the others
      }, waitMs)
      const waiter: Waiting = {
        bytes,
        admit: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      line.push(waiter)
      this.#waitingCount += 1
    })
  }

  #leave(account: string, waiter: Waiting): void {
    const line = this.#waiting.get(account)!
    line.splice(line.indexOf(waiter), 1)
    this.#waitingCount -= 1
    if (line.length === 0) this.#waiting.delete(account)
  }

  /** Lets in whoever's turn it is. A body that has to wait for room is not overtaken by smaller ones of other accounts. */
  #admit(): void {
    for (const [account, line] of [...this.#waiting]) {
      const waiter = line[0]!
      if (!this.#fitsAccount(account, waiter.bytes)) continue
      if (!this.#fits(account, waiter.bytes)) return
      this.#leave(account, waiter)
      if (line.length > 0) {
        this.#waiting.delete(account) // to the end of the turns
        this.#waiting.set(account, line)
      }
      this.#add(account, waiter.bytes)
      waiter.admit()
    }
  }
}

const busy = () =>
  new ServiceError(
    'storage_unavailable',
    'The service is busy with other large bodies. Retry in 10 seconds, or send fewer cards at once.',
    { retryAfterSeconds: 10 },
  )
