/** Detects the type and size of an image from the first bytes of a stream. */
import { PassThrough, finished, type Readable } from 'node:stream'
import { limits } from '../../core/limits.ts'
import { readImageHeader, type ImageHeader } from '../../platform/images/image-header.ts'

/**
 * Reads until the image's type and size are known, then pauses the body. It listens to `data` events: the stream's
 * iterator would concatenate buffered chunks, which copies all of them.
 *
 * @returns `header`, null when the bytes are not an image; and `whole`, to call once: the body with the bytes already
 *   read. Destroying that stream does not destroy the body
 * @throws the error of the body
 */
export async function peekImage(body: Readable) {
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
  whole.on('error', () => undefined) // the reader gets the error when it starts to read
  for (const chunk of chunks) whole.write(chunk)
  finished(body, { writable: false }, (error) => {
    if (error) whole.destroy(error)
  })
  return body.pipe(whole)
}
