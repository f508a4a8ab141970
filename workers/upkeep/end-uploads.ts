/**
 * Ends uploads that were not completed in time, and those whose end was interrupted. It removes their bytes first. Then it
 * deletes their rows, which count in the quota.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import type { Database } from '../../sql/database.ts'
import { never, startLoop, type Loop } from '../loop.ts'

export interface FileParts {
  database: Database
  files: ObjectStore
  clock: Clock
  log: Logger
}

const atOnce = 100

export const startEndingUploads = (parts: FileParts): Loop =>
  startLoop('end uploads', 60_000, parts.log, (stopping) => endUploads(parts, stopping))

export async function endUploads(parts: FileParts, stopping = never): Promise<void> {
  const { database, files, clock, log } = parts
  await files.tidy()
  /** Keys of uploads that failed in this round. The next round tries them again. */
  const left: string[] = []
  while (!stopping.aborted) {
    const now = new Date(clock.now())
    // After this no request completes them. A stored upload is kept only to answer repeated completions.
    const ended = await database.asSystem(async (tx) => {
      await tx`delete from uploads where state = 'stored' and expires_at <= ${now}`
      return tx<{ image_key: string; upload_id: string | null }[]>`
        update uploads set state = 'ending'
        where image_key in (
          select image_key from uploads
          where (expires_at <= ${now} or state = 'ending') and state <> 'stored' and image_key <> all (${left}::text[])
          order by expires_at
          limit ${atOnce}
          for update skip locked
        )
        returning image_key, upload_id`
    })
    if (ended.length === 0) return
    for (const { image_key, upload_id } of ended) {
      try {
        if (upload_id) await files.abort(image_key, upload_id)
        await files.remove([image_key])
        await database.asSystem(
          (tx) => tx`delete from uploads where image_key = ${image_key} and state = 'ending'`,
        )
      } catch (error) {
        log.warn({ err: error, key: image_key }, 'an upload could not be ended; it will be tried again')
        left.push(image_key)
      }
    }
  }
}
