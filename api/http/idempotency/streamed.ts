/** The content of a body that is handed on as it comes: hashed on its way. */
import { createHash } from 'node:crypto'
import { Transform, type Readable } from 'node:stream'
import { limits } from '../../../core/limits.ts'

export interface StreamedContent {
  /** In place of the body. */
  body: Readable
  /** Whether somebody has begun to read it. */
  isRead(): boolean
  /** Reads what nobody has read. Rejects when it breaks off. */
  digest(): Promise<string>
  /** What still comes is of no interest: it is let go as it comes, and not gathered. */
  drop(): void
}

/** All that is longer than any upload may be is alike: it is refused for its length. */
const tooLong = 'too long'

/** @param read called once all of it has been read, before its reader learns of its end */
export function hashStream(stream: Readable, read: (digest: string) => void): StreamedContent {
  const sum = createHash('sha256')
  let bytes = 0
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // not everybody asks
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= limits.files.uploadBytes) sum.update(chunk)
      else if (bytes - chunk.length <= limits.files.uploadBytes) told(tooLong)
      done(null, chunk)
    },
  })
  const told = (digest: string) => {
    read(digest)
    resolve(digest)
  }
  body.once('end', () => {
    if (bytes <= limits.files.uploadBytes) told(sum.digest('hex'))
  })
  stream.once('error', (error) => body.destroy(error))
  stream.once('close', () => {
    if (!stream.readableEnded) body.destroy(new Error('The body broke off.'))
  })
  body.once('error', reject)
  body.once('close', () => reject(new Error('The body was not read to its end.')))
  stream.pipe(body)
  return {
    body,
    isRead: () => body.readableDidRead,
    digest() {
      body.resume()
      return promise
    },
    drop() {
      stream.unpipe(body)
      stream.resume()
      body.destroy()
    },
  }
}
