import { expect, test } from 'vitest'
import { Unread, type Reader } from '../../platform/work/unread.ts'

const [maxBytes, frameBytes] = [128 * 1024 * 1024, 15 * 1024]
let looks = 0

/** Reads nothing. */
class Stuck implements Reader {
  unreadBytes = 65 * 1024
  isClosed = false
  readonly #behindMs: number

  constructor(behindMs: number) {
    this.#behindMs = behindMs
  }

  get ownUnreadBytes(): number {
    looks += 1
    return this.unreadBytes
  }

  get behindMs(): number {
    looks += 1
    return this.#behindMs
  }

  closeAsSlow(): void {
    this.isClosed = true
  }
}

test('[X90] finding the slowest of 2000 sockets costs little, and those that are less slow stay', () => {
  const unread = new Unread(maxBytes)
  const readers = Array.from({ length: 2000 }, (_, n) => new Stuck(1 + ((n * 7919) % 2000)))
  for (const reader of readers) unread.wrote(reader)
  looks = 0
  for (const reader of readers) {
    if (reader.isClosed) continue
    reader.unreadBytes += frameBytes
    unread.wrote(reader)
  }
  expect(looks).toBeLessThan(20 * readers.length)
  const left = readers.filter(({ isClosed }) => !isClosed)
  const leftBytes = left.reduce((sum, reader) => sum + reader.unreadBytes, 0)
  expect(leftBytes).toBeLessThanOrEqual(maxBytes)
  expect(leftBytes).toBeGreaterThan(maxBytes * 0.8)
})
