/** What an operation is: one definition from which routing, validation, authorisation and the API description follow. */
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { LiveBoards } from '../../collab/boards/live.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { BytesByTier } from '../../core/limits.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Egress } from '../../platform/egress/egress.ts'
import type { FairQueue } from '../../platform/work/fair-queue.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import type { Logger } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import type { Resizer } from '../../platform/images/resize.ts'
import type { Made } from '../../sql/made.ts'
import type { Database } from '../../sql/database.ts'
import type { Principal, Scope } from '../../sql/accounts/tokens.ts'
import type { HeaderName } from './headers.ts'
import type { Resumed } from './idempotency/attempts.ts'
import type { RateFigures } from './rate-limit.ts'

/** What handlers work with; made once by the composition root. */
export interface ApiContext {
  database: Database
  live: LiveBoards
  clock: Clock
  log: Logger
  /** Cards that a free account may hold; null: no cap. */
  freeCardCap: number | null
  /** The most that a token may be given as its own limit. */
  maxRateLimitPerHour: number
  /** Answers that are kept for their replay, and secrets that they carry. */
  answers: Encryption
  /** Webhooks' secrets, each sealed about its webhook's id. */
  webhookSecrets: Encryption
  /** Whether requests may be sent to a URL: null, or what is wrong with it, in words that follow the field's name. */
  checkUrl: Egress['checkUrl']
  /** Gets what is at a URL. */
  fetchRemote: Egress['fetch']
  /** Time for one item of an import, and for fetching all of them. */
  importMs: { item: number; call: number }
  /** The board can no longer be edited: its sockets are to be closed now. */
  closeBoard(boardId: string): void
  /** The bytes of files. */
  files: ObjectStore
  /** What an account of each tier may have of them. */
  storageBytes: BytesByTier
  /** Bytes that the documents of an account's boards may take. */
  documentBytes: BytesByTier
  resizer: Resizer
  /** A file was read: told before its bytes are sent. Must not make the reader wait. */
  fileRead?: ((read: FileRead) => void) | undefined
  /** Webhook deliveries were queued. */
  wakeDeliveries(): void
  /** Brings what was written on these boards into the search index, as far as it gets within `timeoutMs`. */
  indexForSearch(boardIds: string[], options: { account: string; timeoutMs: number }): Promise<void>
  /** Searches take turns by account: a slow one takes a connection and much of a core. */
  searches: FairQueue
  /** It listens where only this machine can reach it. */
  localOnly: boolean
}

/** Who read which file. */
export interface FileRead {
  principal: Principal
  request: FastifyRequest
  imageKey: string
  workspaceId: string
  boardId: string | null
  status: number
}

export interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  principal: Principal
  rate: RateFigures
  request: FastifyRequest
  /** Of a request that goes on where one before, under the same idempotency key, ended without its answer. */
  resumed: Resumed | null
  /** Counts one more request of the caller, for what is several in one. @throws ServiceError `rate_limited` */
  charge(): Promise<void>
}

export interface Answer {
  status?: number
  /** JSON; or bytes, whose type is then among the headers. */
  body: unknown
  headers?: Record<string, string>
}

export interface RouteSchemas<P extends TSchema, Q extends TSchema, B extends TSchema> {
  params?: P
  query?: Q
  body?: B
}

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the API root, parameters as `:name`. */
  path: string
  /** What the token must hold. */
  scope: Scope
  summary: string
  /** More than the summary says, in Markdown. */
  description?: string
  schemas: RouteSchemas<TSchema, TSchema, TSchema>
  /** Success and its body; then errors that are not those of all operations. */
  answers: Record<number, TSchema>
  /** The errors of its handler, beside those that every such route has; see description/errors.ts. */
  refuses?: readonly ErrorCode[]
  bodyLimitBytes?: number
  /**
   * Refuses, before a large body is read, what would be refused whatever the body holds. The handler decides all the same.
   */
  refuseEarly?(
    context: ApiContext,
    call: { params: Record<string, string>; principal: Principal },
  ): Promise<void>
  /** The answer holds a secret: no cache may keep it. */
  answersSecret?: true
  /** The body is no JSON: the handler gets it as a stream, or null when there is none. */
  takesBytes?: readonly string[]
  /** Such a body is taken in whole before the handler is called, which gets a buffer. */
  inMemory?: true
  /** How such a body is described. */
  described?: TSchema
  /** Headers of its successes, beside those that every success has. */
  answerHeaders?: readonly HeaderName[]
  /** It works on the live document, which may not be to be had. */
  opensDocument?: true
  /** All that it does are calls of other operations, which tell the audit of themselves. */
  delegates?: true
  handle(context: ApiContext, call: Call<never, never, never>): Promise<Answer>
  /**
   * Of a POST whose answer is not known before its transaction ends (see `Operation.answers`): the answer once more, from
   * what it made, should the first one have been lost with its process. Without it, or when it gives null, such
   * a request is carried out again, which then has to come to the same.
   */
  rebuild?(context: ApiContext, call: Call<never, never, never>, made: Made[]): Promise<Answer | null>
}

export function route<P extends TSchema, Q extends TSchema, B extends TSchema>(
  definition: Omit<Route, 'schemas' | 'handle' | 'rebuild'> & {
    schemas: RouteSchemas<P, Q, B>
    handle(context: ApiContext, call: Call<Static<P>, Static<Q>, Static<B>>): Promise<Answer>
    rebuild?(
      context: ApiContext,
      call: Call<Static<P>, Static<Q>, Static<B>>,
      made: Made[],
    ): Promise<Answer | null>
  },
): Route {
  return definition as unknown as Route
}
