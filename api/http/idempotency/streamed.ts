/** Hashes a streamed body while its reader reads it. */
import { createHash } from 'node:crypto'
import { Transform, type Readable } from 'node:stream'
import { limits } from '../../../core/limits.ts'

export type StreamedContent = ReturnType<typeof hashStream>

/** The digest of every body that is larger than an upload may be: such bodies are refused for their size. */
const tooLong = 'too long'

/** @param read called with the hash when the body has been read, before its reader gets the end */
export function hashStream(stream: Readable, read: (digest: string) => void) {
  const sum = createHash('sha256')
  let bytes = 0
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  promise.catch(() => undefined) // `digest` may never be called
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= limits.files.uploadBytes) sum.update(chunk)
      else if (bytes - chunk.length <= limits.files.uploadBytes) finish(tooLong)
      done(null, chunk)
    },
  })
  const finish = (digest: string) => {
    read(digest)
    resolve(digest)
  }
  body.once('end', () => {
    if (bytes <= limits.files.uploadBytes) finish(sum.digest('hex'))
  })
  stream.once('error', (error) => body.destroy(error))
  stream.once('close', () => {
    if (!stream.readableEnded) body.destroy(new Error('The connection closed before the end of the body.'))
  })
  body.once('error', reject)
  body.once('close', () => reject(new Error('The body was not read to its end.')))
  stream.pipe(body)
  return {
    /** The stream to read instead of the original one. */
    body,
    /** Whether a reader has started to read it. */
    isRead: () => body.readableDidRead,
    /** Reads the rest and returns the hash. Rejects when the body is incomplete. */
    digest() {
      body.resume()
      return promise
    },
    /** Discards the rest of the body. */
    drop() {
      stream.unpipe(body)
      stream.resume()
      body.destroy()
    },
  }
}
