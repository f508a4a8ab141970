/** Errors in the API description: which codes an operation can return, and what each means. */
import { statusOf, type ErrorCode } from '../../core/errors.ts'
import type { Route } from '../http/route.ts'
import { refusal } from '../http/schemas.ts'
import type { Components } from './components.ts'
import { ofRefusal, refer, type HeaderName } from '../http/headers.ts'

const meaningOf: Record<ErrorCode, string> = {
  bad_request:
    'A parameter, a header or the body is invalid. The message names the field and what it accepts.',
  invalid_token: 'The access token is missing, mistyped, revoked or expired.',
  limit_reached: 'A limit is reached, such as the number of cards or the storage of the plan.',
  insufficient_scope: 'The token lacks the scope that this operation needs.',
  forbidden: 'The account may see the resource, but not do this.',
  not_found: 'The resource does not exist, or the account may not see it.',
  method_not_allowed: 'The path does not support this method.',
  conflict:
    'The current state does not allow the change, or the `Idempotency-Key` was used for a different request.',
  idempotency_in_progress:
    'Another request with the same `Idempotency-Key` is still running. Retry in a few seconds.',
  precondition_failed: 'The object has another version than the request expects.',
  payload_too_large: 'The body is larger than this operation accepts.',
  unsupported_media_type: 'The operation does not accept content of this type.',
  rate_limited: 'Too many requests. Retry after the number of seconds in `retry-after`.',
  internal_error: 'An error in the service. The message contains the request id.',
  upstream_rejected: 'The remote server refused the request.',
  upstream_error: 'The remote server could not be reached, or its response was invalid.',
  session_unavailable: 'The board’s live document is temporarily unavailable. Retry the request.',
  storage_unavailable: 'The database or the file storage is temporarily unavailable. Retry the request.',
}

/** The error codes that the route can return. */
export function errorsOf({
  method,
  path,
  scope,
  open,
  refuses = [],
  opensDocument,
  notInSessions,
}: Route): ErrorCode[] {
  const hasBody = method !== 'GET'
  const codes: (ErrorCode | false)[] = [
    'bad_request', // at least for an unknown name in strict mode
    !open && 'invalid_token',
    scope !== 'read' && 'insufficient_scope', // every token can read
    notInSessions === true && 'forbidden',
    path.includes(':') && 'not_found',
    ...refuses,
    method === 'POST' && !open && 'conflict', // an idempotency key that was used for another request
    method === 'POST' && !open && 'idempotency_in_progress',
    hasBody && 'payload_too_large',
    hasBody && 'unsupported_media_type',
    'rate_limited',
    'internal_error',
    'storage_unavailable',
    opensDocument === true && 'session_unavailable',
  ]
  return [...new Set(codes.filter((code) => code !== false))]
}

/** The codes of an operation that needs no token. */
export const errorsOfOpen: ErrorCode[] = ['rate_limited', 'internal_error', 'storage_unavailable']

/** Error responses. Responses with the same codes share an entry in `components.responses`. */
export class ErrorResponses {
  readonly responses: Record<string, object> = {}
  readonly #components: Components

  constructor(components: Components) {
    this.#components = components
  }

  /** References to the responses with these codes, by status. */
  refer(codes: ErrorCode[]): Record<string, object> {
    const byStatus = Map.groupBy(codes, (code) => statusOf[code])
    return Object.fromEntries([...byStatus].map(([status, codes]) => [status, this.#response(status, codes)]))
  }

  #response(status: number, codes: ErrorCode[]): object {
    const sorted = codes.toSorted()
    const name = sorted.map(pascal).join('Or')
    this.responses[name] ??= {
      description: sorted.map((code) => `\`${code}\`: ${meaningOf[code]}`).join('\n\n'),
      headers: refer(headersOf(status)),
      content: { 'application/json': { schema: this.#components.refer(refusal(sorted)) } },
    }
    return { $ref: `#/components/responses/${name}` }
  }
}

function headersOf(status: number): HeaderName[] {
  const headers = [...ofRefusal]
  if (status === 401 || status === 403) headers.push('www-authenticate')
  if (status === 429 || status === 503) headers.push('retry-after')
  return headers
}

/** `not_found` → `NotFound`, `card.created` → `CardCreated` */
export const pascal = (name: string) =>
  name.replace(/(?:^|[_.])([a-z])/g, (_, letter: string) => letter.toUpperCase())
