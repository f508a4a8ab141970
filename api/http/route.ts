/** The definition of an operation. Routing, validation, authorisation and the API description are derived from it. */
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { LiveBoards } from '../../collab/boards/live.ts'
import type { EventStreams } from '../../collab/events/event-streams.ts'
import type { ApiPresence } from '../../collab/gateway/api-presence.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { BytesByTier } from '../../core/limits.ts'
import type { Expects } from '../../core/version.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Egress } from '../../platform/egress/egress.ts'
import type { FairQueue } from '../../platform/work/fair-queue.ts'
import type { Passwords } from '../../platform/secrets/passwords.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import type { Signing } from '../../platform/secrets/signatures.ts'
import type { Logger } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/storage/object-store.ts'
import type { Resizer } from '../../platform/images/resize.ts'
import type { SessionClaims } from '../../sql/acting-session.ts'
import type { Made } from '../../sql/made.ts'
import type { Database } from '../../sql/database.ts'
import type { Principal, Scope } from '../../sql/accounts/tokens.ts'
import type { HeaderName } from './headers.ts'
import type { Resumed } from './idempotency/attempts.ts'
import type { RateFigures } from './rate-limit.ts'

/** The dependencies of handlers. The composition root makes them once. */
export interface ApiContext {
  database: Database
  live: LiveBoards
  clock: Clock
  log: Logger
  /** Cards that a free account may hold; null: no cap. */
  freeCardCap: number | null
  /** The highest own rate limit that a token may get. */
  maxRateLimitPerHour: number
  passwords: Passwords
  /** Encrypts answers that are stored for replay, and the secrets in them. */
  answers: Encryption
  /** Makes the tokens of minted sessions. */
  sessionTokens: SessionTokens
  /** Encrypts webhooks' secrets. Each is bound to its webhook's id. */
  webhookSecrets: Encryption
  /**
   * Checks whether requests may be sent to a URL. Null: yes. Else the reason, as text that follows the field's name.
   */
  checkUrl: Egress['checkUrl']
  /** Fetches a URL through the egress. */
  fetchRemote: Egress['fetch']
  /** Timeouts for fetching one item of an import, and all of them. */
  importMs: { item: number; call: number }
  /** Who is on a board at the moment. */
  presence: ApiPresence
  /** The open streams of events. */
  eventStreams: EventStreams
  /** Closes the sockets of a board that can no longer be edited. */
  closeBoard(boardId: string): void
  /** Sends mail. Null: the service has no mail server, and shows the links that it would send. */
  mailer: Mailer | null
  /** The storage for the bytes of files. */
  files: ObjectStore
  /** Signs URLs of files. */
  imageUrls: Signing
  /** Quota for files, by tier of the account. */
  storageBytes: BytesByTier
  /** Quota for the documents of an account's boards. */
  documentBytes: BytesByTier
  resizer: Resizer
  /** Called when a file is read, before its bytes are sent. It must return at once. */
  fileRead?: ((read: FileRead) => void) | undefined
  /** Call it after webhook deliveries were queued. */
  wakeDeliveries(): void
  /** Indexes recent changes of these boards for search, as many as possible within `timeoutMs`. */
  indexForSearch(boardIds: string[], options: { account: string; timeoutMs: number }): Promise<void>
  /** The queue for searches, fair among accounts: a slow search takes a connection and much of a CPU core. */
  searches: FairQueue
  /** Whether the service listens only on a loopback address. */
  localOnly: boolean
}

/** Whom the audit names. */
export type AuditedCaller = Pick<
  Principal,
  'userId' | 'displayName' | 'serviceAccountId' | 'clientId' | 'session'
> & { tokenId: string | null }

/** A read of a file, for the audit. */
export interface FileRead {
  reader: AuditedCaller
  request: FastifyRequest
  imageKey: string
  workspaceId: string
  boardId: string | null
  status: number
}

/** Makes and reads the tokens of minted sessions. */
export interface SessionTokens {
  make(claims: SessionClaims): string
  /** @returns the claims; null when the token is not that of a session, or its signature is wrong */
  read(token: string): SessionClaims | null
}

export interface Call<Params, Query, Body> {
  params: Params
  query: Query
  body: Body
  principal: Principal
  rate: RateFigures
  request: FastifyRequest
  /** The versions that the request expects of the object that it writes. Undefined: any. */
  expects: Expects | undefined
  /** Set when an earlier attempt with the same idempotency key did the work, but lost its answer. */
  resumed: Resumed | null
  /** Counts another request of the caller, as for each message of a batch. @throws ServiceError `rate_limited` */
  charge(): Promise<void>
}

export interface Answer {
  status?: number
  /**
   * JSON, or bytes. For bytes, `headers` must contain the content type. For a HEAD request it may be undefined, and a
   * stream is not read.
   */
  body: unknown
  headers?: Record<string, string>
}

export interface RouteSchemas<P extends TSchema, Q extends TSchema, B extends TSchema> {
  params?: P
  query?: Q
  body?: B
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the API root, parameters as `:name`. */
  path: string
  /** The scope that the token must have. */
  scope: Scope
  /** It needs no token, has no principal, and writes its own audit entry. */
  open?: true
  summary: string
  /** Details, in Markdown. */
  description?: string
  schemas: RouteSchemas<TSchema, TSchema, TSchema>
  /** Answers by status: the success first, then errors with a special body. */
  answers: Answers
  /** The errors of its handler. description/errors.ts adds those that every route of its kind has. */
  refuses?: readonly ErrorCode[]
  bodyLimitBytes?: number
  /**
   * Refuses a request before its large body is read, by checks that don't depend on the body. The handler repeats them.
   */
  refuseEarly?(
    context: ApiContext,
    call: { params: Record<string, string>; principal: Principal },
  ): Promise<void>
  /** The answer contains a secret, so it must not be cached. */
  answersSecret?: true
  /** Media types of a body that is not JSON. The handler gets the body as a stream, or null without a body. */
  takesBytes?: readonly string[]
  /** With `takesBytes`: the handler gets the whole body as a buffer. */
  inMemory?: true
  /** With `takesBytes`: the schema of the body in the API description. */
  described?: TSchema
  /** It accepts `If-Match`, and its handler checks `expects`. */
  conditional?: true
  /** It accepts `Last-Event-ID`. */
  resumable?: true
  /** Headers of its successes, beside those that every success has. */
  answerHeaders?: readonly HeaderName[]
  /** It uses the live document, which may be unavailable. */
  opensDocument?: true
  /** A session that was minted for a user of another product may not call it. */
  notInSessions?: true
  /** It only calls other operations, which write their own audit entries. */
  delegates?: true
  /** It stores nothing, so there is nothing to audit. */
  keepsNothing?: true
  handle(context: ApiContext, call: Call<never, never, never>): Promise<Answer>
  /**
   * Answers a request with the query parameter `signature`, which needs no token. It checks the signature. Such requests
   * are limited by address.
   */
  handleSigned?(
    context: ApiContext,
    call: Pick<Call<never, never, never>, 'params' | 'query' | 'request'>,
  ): Promise<Answer>
  /**
   * Rebuilds a lost answer from what the request recorded. For a POST whose answer is known only after its transaction
   * ends (see `Operation.answers`). Without it, or when it returns null, the request is run again, which must then have
   * the same result.
   */
  rebuild?(context: ApiContext, call: Call<never, never, never>, made: Made[]): Promise<Answer | null>
}

type Answers = Record<number, TSchema>
export type RouteWith<A extends Answers> = Omit<Route, 'answers'> & { answers: A }
/** The type of a successful answer. */
export type AnswerOf<A extends Answers> = Static<A[keyof A & (200 | 201)]>

/**
 * Defines an operation.
 *
 * @param operation method and path, such as `GET /boards/:id`
 * @param scope the scope that the token must have
 */
export function route<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers>(
  operation: `${Route['method']} /${string}`,
  scope: Scope,
  definition: Omit<
    Route,
    'method' | 'path' | 'scope' | 'schemas' | 'answers' | 'handle' | 'handleSigned' | 'rebuild'
  > & {
    schemas: RouteSchemas<P, Q, B>
    answers: A
    handle(context: ApiContext, call: Call<Static<P>, Static<Q>, Static<B>>): Promise<Answer>
    handleSigned?(
      context: ApiContext,
      call: Pick<Call<Static<P>, Static<Q>, Static<B>>, 'params' | 'query' | 'request'>,
    ): Promise<Answer>
    rebuild?(
      context: ApiContext,
      call: Call<Static<P>, Static<Q>, Static<B>>,
      made: Made[],
    ): Promise<Answer | null>
  },
): RouteWith<A> {
  const [method, path] = operation.split(' ')
  return { method, path, scope, ...definition } as unknown as RouteWith<A>
}

/** Defines an operation that needs no token. */
export function openRoute<P extends TSchema, Q extends TSchema, B extends TSchema, A extends Answers>(
  operation: `${Route['method']} /${string}`,
  definition: Omit<
    Route,
    'method' | 'path' | 'scope' | 'open' | 'schemas' | 'answers' | 'handle' | 'rebuild'
  > & {
    schemas: RouteSchemas<P, Q, B>
    answers: A
    handle(
      context: ApiContext,
      call: Pick<Call<Static<P>, Static<Q>, Static<B>>, 'params' | 'query' | 'body' | 'request'>,
    ): Promise<Answer>
  },
): RouteWith<A> {
  return route(operation, 'read', { ...definition, open: true })
}
