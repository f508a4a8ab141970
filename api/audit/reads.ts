/**
 * Audit entries for image reads, written in batches: a gallery of 500 images is one write. An entry is written within
 * 250 ms. If the process is killed, the entries of that time are lost.
 */
import type { Logger } from '../../platform/log.ts'
import { recordReads, type ReadEntry } from '../../sql/requests/audit.ts'
import type { Database } from '../../sql/database.ts'
import { auditedCaller, auditedRequest } from '../http/action.ts'
import type { FileRead } from '../http/route.ts'

const gatherMs = 250
const mostAtOnce = 500
/**
 * While the database is unavailable, entries wait. Beyond this number the oldest are dropped, and their number is
 * logged.
 */
const mostWaiting = 20_000

export class ReadAudit {
  readonly #database: Database
  readonly #log: Logger
  #waiting: ReadEntry[] = []
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null

  constructor({ database, log }: { database: Database; log: Logger }) {
    this.#database = database
    this.#log = log
  }

  imageRead({ request, reader, ...read }: FileRead): void {
    this.#waiting.push({
      action: 'image.read',
      user_id: reader.userId,
      ...auditedCaller(reader),
      ...auditedRequest(request),
      status: read.status,
      workspace_id: read.workspaceId,
      board_id: read.boardId,
      resource_type: 'image',
      resource_id: read.imageKey,
    })
    if (this.#waiting.length >= mostAtOnce) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), gatherMs).unref()
  }

  /** Writes the waiting entries. Resolves also when that failed. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    await (this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    }))
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, mostAtOnce)
      try {
        await this.#database.asSystem((tx) => recordReads(tx, batch))
        this.#waiting.splice(0, batch.length)
      } catch (error) {
        const dropped = this.#waiting.splice(0, Math.max(0, this.#waiting.length - mostWaiting)).length
        this.#log.warn({ err: error, dropped }, 'writing audit entries of reads failed; retrying')
        this.#timer ??= setTimeout(() => void this.flush(), 2000).unref()
        return
      }
    }
  }
}
