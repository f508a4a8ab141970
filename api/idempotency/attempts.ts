/**
 * Requests under an idempotency key. While one is under way a lock of this process's session holds its key, so that
 * nothing sticks when the process ends; the key is written in the transaction of the work, the answer after it, before it
 * is sent. An answer that was lost in between is made again from the ids of what was made.
 */
import { createHash, randomUUID } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { idempotencyCutoff } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Encryption } from '../../platform/encryption.ts'
import type { Logger } from '../../platform/log.ts'
import type { Database, Lock } from '../../sql/database.ts'
import { openKey, storeResponse } from '../../sql/idempotency.ts'
import type { OperationKey } from '../../sql/operation.ts'

/** What a client sent under a key. */
export interface KeyedRequest {
  userId: string
  method: string
  /** Without query. */
  path: string
  key: string
  /** All that makes it this request and no other. */
  content: (string | Uint8Array)[]
}

export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Attempt {
  userId: string
  key: OperationKey
  /** Ids of what an earlier attempt made, whose answer was lost; null when there was none. */
  resumed: string[] | null
  release(): Promise<void>
}

export interface AttemptsOptions {
  database: Database
  clock: Clock
  log: Logger
  /** Answers may carry secrets. */
  encryption: Encryption
}

export class Attempts {
  readonly #options: AttemptsOptions

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** @throws ServiceError `idempotency_in_progress`, or `conflict` for another request under the same key */
  async begin(request: KeyedRequest): Promise<Attempt | StoredResponse> {
    const { database, clock } = this.#options
    const { userId } = request
    const now = clock.now()
    const key: OperationKey = {
      id: hash([userId, request.method, request.path, request.key]),
      fingerprint: hash(request.content),
      attempt: randomUUID(),
      created_at: new Date(now).toISOString(),
    }
    let lock: Lock | null = null
    const release = async () => {
      await lock?.release()
    }
    try {
      lock = await database.lock(`idempotency ${key.id}`)
      if (!lock) throw inProgress()
      const known = await database.asSystem((tx) => openKey(tx, key, idempotencyCutoff(now)))
      if (!known) return { userId, key, resumed: null, release }
      if (known.fingerprint !== key.fingerprint) throw otherRequest()
      if (!known.response) return { userId, key, resumed: known.result, release }
      const stored = JSON.parse(this.#options.encryption.open(known.response, key.id)) as StoredResponse
      await release()
      return stored
    } catch (error) {
      await release()
      throw error
    }
  }

  /** Before the answer is sent. When it cannot be kept, a replay makes it again. */
  async keep({ userId, key }: Attempt, response: StoredResponse): Promise<void> {
    const { database, log, encryption } = this.#options
    const sealed = encryption.seal(JSON.stringify(response), key.id)
    try {
      await database.asSystem((tx) => storeResponse(tx, key, userId, sealed))
    } catch (error) {
      log.warn({ err: error }, 'an answer could not be kept for its replay')
    }
  }
}

/** Each part after its length, so that no two lists are alike. */
function hash(parts: (string | Uint8Array)[]): string {
  const sum = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    sum.update(`${bytes.byteLength}:`).update(bytes)
  }
  return sum.digest('hex')
}

export const inProgress = () =>
  new ServiceError(
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still running. Try again shortly.',
  )
const otherRequest = () =>
  new ServiceError(
    'conflict',
    'This Idempotency-Key was used for another request. A new request needs a new key.',
  )
