/**
 * The error catalogue: all codes with which a request can fail. Clients branch on `code`, and the HTTP status follows from
 * it. The message of a `ServiceError` is sent to the client. Any other error becomes `internal_error`.
 */
export const statusOf = {
  bad_request: 400,
  invalid_token: 401,
  limit_reached: 402,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_in_progress: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  upstream_rejected: 502,
  upstream_error: 502,
  session_unavailable: 503,
  storage_unavailable: 503,
} as const

export type ErrorCode = keyof typeof statusOf

export const errorCodes = Object.keys(statusOf) as ErrorCode[]

export class ServiceError extends Error {
  readonly code: ErrorCode
  /** For the header `retry-after`. */
  readonly retryAfterSeconds: number | undefined
  /** What the answer contains besides, such as the card that a condition refuses to change. */
  readonly shows: Record<string, unknown> | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { retryAfterSeconds?: number; shows?: Record<string, unknown> },
  ) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
    this.retryAfterSeconds = options?.retryAfterSeconds
    this.shows = options?.shows
  }
}

export const badRequest = (message: string, options?: ErrorOptions) =>
  new ServiceError('bad_request', message, options)

/** The codes with which the gateway closes a socket. After 4403 a client must not reconnect with the same token. */
export const closeCodes = {
  tooBig: { code: 1009, reason: 'message too big' },
  restart: { code: 1012, reason: 'service restart' },
  tryLater: { code: 1013, reason: 'try again later' },
  noMemory: { code: 1013, reason: 'the open boards of this account take too much memory' },
  tooMany: { code: 1013, reason: 'too many sockets' },
  /** Too much came before a board was open. Hocuspocus' own code for frames that it can't queue. */
  tooEarly: { code: 4205, reason: 'Reset Connection' },
  badFrame: { code: 4400, reason: 'malformed frame' },
  tooCostly: { code: 4400, reason: 'update too costly to merge' },
  unauthorized: { code: 4401, reason: 'unauthorized' },
  forbidden: { code: 4403, reason: 'access ended' },
  otherBoard: { code: 4404, reason: 'the address of this socket names another board' },
  tooSlow: { code: 4408, reason: 'reads too slowly' },
  /** Hocuspocus' own code. */
  silent: { code: 4408, reason: 'Connection Timeout' },
} as const
