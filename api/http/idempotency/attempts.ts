/**
 * Requests with an idempotency key. A running request holds a session lock on its key, which PostgreSQL releases if the
 * process ends. The key is written in the transaction of the work. The answer is stored after that transaction, before it
 * is sent. If the process ends in between, the answer is rebuilt from the ids of the created resources.
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

/** A request with an idempotency key. */
export interface KeyedRequest {
  userId: string
  method: string
  /** Without query. */
  path: string
  key: string
  /** The parts of the request that the fingerprint covers. */
  content: Content
  /** For a body that is not read yet: reads it. `content` then covers only the headers. */
  readContent?(): Promise<Content>
}

/** Parts of a request. An array of strings is one part in pieces. */
export type Content = (string | Uint8Array | string[])[]

export interface StoredResponse {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Attempt {
  userId: string
  key: OperationKey
  /** The work of an earlier attempt whose answer was lost; null when there was none. */
  resumed: Resumed | null
  /** The status of the operation's error, where the status of the answer does not tell it. Set by MCP. */
  failedWith?: number
  release(): Promise<void>
}

export interface Resumed {
  /** What the attempt recorded, in order. */
  made: Made[]
  /** The answer, if the work's transaction stored it. */
  answer: { status: number; body: unknown } | null
  /** The contents of sealed notes of a type, in order. */
  remembered(type: SealedNote['type']): unknown[]
}

export interface AttemptsOptions {
  database: Database
  clock: Clock
  log: Logger
  /** Encrypts stored answers, which may contain secrets. */
  encryption: Encryption
}

export class Attempts {
  readonly #options: AttemptsOptions

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** @throws ServiceError `idempotency_in_progress`; `conflict` when the key was used for another request */
  async begin(request: KeyedRequest): Promise<Attempt | StoredResponse> {
    const { database, clock, encryption } = this.#options
    const { userId } = request
    const now = clock.now()
    const id = fingerprintOf([userId, request.method, request.path, request.key])
    const fingerprint = await fingerprintInTurns(request.content)
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
        return { userId, key, resumed: null, release } // the handler still has to read the body
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

  /** Stores the answer, before it is sent. If that fails, a replay rebuilds the answer. */
  async keep({ userId, key }: Attempt, response: StoredResponse): Promise<void> {
    const { database, log, encryption } = this.#options
    const sealed = encryption.seal(JSON.stringify(response), key.id)
    try {
      await database.asSystem((tx) => storeResponse(tx, key, userId, sealed))
    } catch (error) {
      log.warn({ err: error }, 'storing an answer for replay failed')
    }
  }
}

/** SHA-256 of the parts, each after its length, so that different lists of parts have different hashes. */
export function fingerprintOf(content: Content): string {
  const sum = createHash('sha256')
  for (const bytes of bytesOf(content)) sum.update(bytes)
  return sum.digest('hex')
}

/** The same for large content. Lets the event loop run other work in between. */
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
    'The first request with this Idempotency-Key is still running. Try again in a few seconds.',
  )
const otherRequest = () =>
  new ServiceError(
    'conflict',
    'This Idempotency-Key was used for a different request. Send a new request with a new key.',
  )
