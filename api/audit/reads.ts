/**
 * Reads of images for the audit, gathered so that a gallery of 500 pictures is one write. A read is told within a
 * quarter of a second; those of that time are lost with a process that is killed.
 */
import type { FastifyRequest } from 'fastify'
import type { Logger } from '../../platform/log.ts'
import { recordReads, type ReadEntry } from '../../sql/requests/audit.ts'
import type { Database } from '../../sql/database.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'

export interface ImageRead {
  key: string
  workspaceId: string | null
  boardId: string | null
  status: number
}

const gatherMs = 250
const mostAtOnce = 500
/** When the database is away for so long that this many wait, the oldest are dropped, and the log says how many. */
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

  imageRead(request: FastifyRequest, principal: Principal, read: ImageRead): void {
    this.#waiting.push({
      action: 'image.read',
      userId: principal.userId,
      displayName: principal.displayName,
      tokenId: principal.tokenId,
      serviceAccountId: principal.serviceAccountId,
      clientId: principal.clientId,
      method: request.method,
      path: request.url.split('?', 1)[0]!.slice(0, 1000),
      status: read.status,
      workspaceId: read.workspaceId,
      boardId: read.boardId,
      resourceType: 'image',
      resourceId: read.key,
      requestId: request.id,
      ip: request.ip,
    })
    if (this.#waiting.length >= mostAtOnce) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), gatherMs).unref()
  }

  /** Resolves when all that waits is written, or could not be. */
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
        this.#log.warn({ err: error, dropped }, 'reads could not be written to the audit; trying again')
        this.#timer ??= setTimeout(() => void this.flush(), 2000).unref()
        return
      }
    }
  }
}
