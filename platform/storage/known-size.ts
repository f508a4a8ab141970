/** Determines the size of a body, for stores that need it before the first byte. */
import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Calls `work` with a body and its size. A body of unknown size is written to a temporary file first. */
export async function withKnownSize<T>(
  body: Readable,
  bytes: number | null,
  work: (body: Readable, bytes: number) => Promise<T>,
): Promise<T> {
  if (bytes !== null) return work(body, bytes)
  const draft = join(tmpdir(), `corkboard-${randomUUID()}`)
  try {
    const counter = new PassThrough()
    let came = 0
    counter.on('data', (chunk: Buffer) => (came += chunk.length))
    await pipeline(body, counter, createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
    return await work(createReadStream(draft), came)
  } finally {
    await rm(draft, { force: true })
  }
}
