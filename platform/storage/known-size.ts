/** Determines the size of a body, for stores that need it before the first byte. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { faults } from './file-faults.ts'
import { storeBody } from './store-body.ts'

/**
 * Calls `work` with a body and its size. A body of unknown size is written to a temporary file first.
 *
 * @throws ServiceError `storage_unavailable` when the file cannot be written; the error of the body, or of `work`
 */
export async function withKnownSize<T>(
  body: Readable,
  bytes: number | null,
  work: (body: Readable, bytes: number) => Promise<T>,
): Promise<T> {
  if (bytes !== null) return work(body, bytes)
  body.on('error', () => undefined) // it may fail before the pipeline listens
  const draft = await faults(openDraft).catch((error: unknown) => {
    body.destroy()
    throw error
  })
  try {
    const counter = new PassThrough()
    let came = 0
    counter.on('data', (chunk: Buffer) => (came += chunk.length))
    await faults(() => pipeline(body, counter, draft.sink))
    return await work(draft.source, came)
  } finally {
    draft.sink.destroy()
    draft.source.destroy()
  }
}

/** Opens a temporary file that has no name any more. So the system frees it when this process ends, however it ends. */
async function openDraft() {
  const path = join(tmpdir(), `corkboard-${randomUUID()}`)
  const sink = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  try {
    await once(sink, 'open')
    const source = createReadStream(path)
    await once(source, 'open')
    return { sink, source: storeBody(source) }
  } catch (error) {
    sink.destroy()
    throw error
  } finally {
    await rm(path, { force: true })
  }
}
