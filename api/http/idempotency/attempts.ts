/**
 * Requests under an idempotency key. While one is under way a lock of this process's session holds its key, so that
 * nothing sticks when the process ends; the key is written in the transaction of the work, the answer after it, before it
 * is sent. An answer that was lost in between is made again from the ids of what was made.
 */
import { createHash, randomUUID } from 'node:crypto'
import { ServiceError } from '../../../core/errors.ts'
import { idempotencyCutoff } from '../../../core/limits.ts'
import { LoopTurn } from '../../../platform/work/loop-turn.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Encryption } from '../../../platform/secrets/encryption.ts'
import type { Logger } from '../../../platform/log.ts'
import type { Database, Lock } from '../../../sql/database.ts'
import { openKey, storeResponse } from '../../../sql/requests/idempotency.ts'
import { decodeMade, type Made, type SealedNote } from '../../../sql/made.ts'
import type { OperationKey } from '../../../sql/operation.ts'

/** What a client sent under a key. */
export interface KeyedRequest {
  userId: string
  method: string
  /** Without query. */
  path: string
  key: string
  /** All that makes it this request and no other. */
  content: Content
  /** Of a body that is not read yet: all of it, `content` being what its head says. */
  readContent?(): Promise<Content>
}

/** A part that is a list is one part, in pieces. */
export type Content = (string | Uint8Array | string[])[]

export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Attempt {
  userId: string
  key: OperationKey
  /** What an earlier attempt made, whose answer was lost; null when there was none. */
  resumed: Resumed | null
  release(): Promise<void>
}

export interface Resumed {
  /** In the order in which it was made. */
  made: Made[]
  /** The answer, where it was known by then. */
  answer: { status: number; body: unknown } | null
  /** What was sealed as such a note, in order. */
  remembered(type: SealedNote['type']): unknown[]
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
    const id = fingerprintOf([userId, request.method, request.path, request.key])
    const fingerprint = await fingerprintInTurns(request.content)
    const { encryption } = this.#options
    const key: OperationKey = {
      id,
      seal: (text) => encryption.seal(text, id).toString('base64'),
      fingerprint,
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
      if (request.readContent && !known.response && known.result.length === 0)
        return { userId, key, resumed: null, release } // its body is needed yet
      if (known.fingerprint !== key.fingerprint) {
        if (request.readContent) key.fingerprint = await fingerprintInTurns(await request.readContent())
        if (known.fingerprint !== key.fingerprint) throw otherRequest()
      }
      if (!known.response)
        return { userId, key, resumed: this.#resumed(key, known.result.map(decodeMade)), release }
      const stored = JSON.parse(encryption.open(known.response, key.id)) as StoredResponse
      await release()
      return stored
    } catch (error) {
      await release()
      throw error
    }
  }

  #resumed(key: OperationKey, made: Made[]): Resumed {
    const { encryption } = this.#options
    const remembered = (type: SealedNote['type']): unknown[] =>
      made.flatMap((one) =>
        one.type === type ? [JSON.parse(encryption.open(Buffer.from(one.sealed, 'base64'), key.id))] : [],
      )
    const answer = (remembered('answer') as NonNullable<Resumed['answer']>[]).at(-1) ?? null
    return { made, answer, remembered }
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

/** SHA-256 over each part after its length, so that no two lists are alike. */
export function fingerprintOf(content: Content): string {
  const sum = createHash('sha256')
  for (const bytes of bytesOf(content)) sum.update(bytes)
  return sum.digest('hex')
}

/** The same of content that may be large. */
async function fingerprintInTurns(content: Content): Promise<string> {
  const turn = new LoopTurn()
  const sum = createHash('sha256')
  for (const bytes of bytesOf(content)) {
    sum.update(bytes)
    if (turn.isOver()) await turn.next()
  }
  return sum.digest('hex')
}

function* bytesOf(content: Content): Iterable<string | Uint8Array> {
  for (const part of content) {
    const pieces = Array.isArray(part) ? part : [part]
    let length = 0
    for (const piece of pieces) length += Buffer.byteLength(piece)
    yield `${length}:`
    yield* pieces
  }
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
