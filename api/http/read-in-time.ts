import type { Readable } from 'node:stream'

/** Time for reading the whole answer, and one piece of it. */
export const readingMs = { whole: 5 * 60_000, piece: 30_000 }

/** Cuts off the client of a streamed answer that reads too slowly, because the answer holds memory until it is read. */
export function readInTime(body: Readable): Readable {
  const cutOff = () => body.destroy(new Error('The client did not read the answer in time.'))
  const whole = setTimeout(cutOff, readingMs.whole)
  let stalled = setTimeout(cutOff, readingMs.piece)
  const push = body.push.bind(body)
  body.push = (...given) => {
    clearTimeout(stalled)
    stalled = setTimeout(cutOff, readingMs.piece)
    return push(...given)
  }
  return body.once('close', () => {
    clearTimeout(whole)
    clearTimeout(stalled)
  })
}
