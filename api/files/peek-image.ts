/** Looks at an image while it comes in. */
import { PassThrough, finished, type Readable } from 'node:stream'
import { limits } from '../../core/limits.ts'
import { readImageHeader, type ImageHeader } from '../../platform/images/image-header.ts'

export interface PeekedImage {
  /** Null when the bytes are of no image. */
  header: ImageHeader | null
  /** All of the body, once: what was looked at leads it. Destroying it leaves the body alone. */
  whole(): Readable
}

/**
 * Reads as much as tells the image's type and size, and then pauses the body. By its events: its iterator would put the
 * chunks together that have come meanwhile, which copies all of them.
 *
 * @throws what the body fails with
 */
export async function peekImage(body: Readable): Promise<PeekedImage> {
  const chunks: Buffer[] = []
  let length = 0
  let look = firstLook
  const { promise: read, resolve, reject } = Promise.withResolvers<ImageHeader | null>()
  const decide = (isAll: boolean) => {
    const header = readImageHeader(Buffer.concat(chunks))
    look = Math.min(length * 4, limits.files.headerBytes)
    if (!isAll && header !== null && !header.size && length < look) return
    body.pause()
    resolve(header)
  }
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length >= look) decide(false)
  }
  const forget = finished(body, { writable: false }, (error) => (error ? reject(error) : decide(true)))
  body.on('data', take)
  try {
    return { header: await read, whole: () => lead(chunks.splice(0), body) }
  } finally {
    forget()
    body.off('data', take)
  }
}
const firstLook = 4096

function lead(chunks: Buffer[], body: Readable): Readable {
  const whole = new PassThrough()
  whole.on('error', () => undefined) // told to who reads it, whenever that begins
  for (const chunk of chunks) whole.write(chunk)
  finished(body, { writable: false }, (error) => {
    if (error) whole.destroy(error)
  })
  return body.pipe(whole)
}
