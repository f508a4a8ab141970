/** Errors as the API description has them: which codes an operation can answer with, and what each means. */
import { statusOf, type ErrorCode } from '../../core/errors.ts'
import type { Route } from '../http/route.ts'
import { refusal } from '../http/schemas.ts'
import type { Components } from './components.ts'
import { ofRefusal, refer, type HeaderName } from '../http/headers.ts'

const meaningOf: Record<ErrorCode, string> = {
  bad_request:
    'A parameter, a header or the body is not as described here. The message names the field and what it accepts.',
  invalid_token: 'The access token is missing, mistyped, revoked or expired.',
  limit_reached: 'A limit of the plan is reached, such as the number of cards or the storage.',
  insufficient_scope: 'The token lacks the scope that this operation needs.',
  forbidden: 'The account may see this but not change it.',
  not_found: 'There is no such thing, or the account may not see it.',
  method_not_allowed: 'The path does not take this method.',
  conflict:
    'The state does not allow the change, or another request was sent earlier with the same `Idempotency-Key`.',
  idempotency_in_progress:
    'Another request with the same `Idempotency-Key` is still running. Send this one again shortly.',
  payload_too_large: 'The body is larger than this operation accepts.',
  unsupported_media_type: 'The operation does not take content of this type.',
  rate_limited: 'Too many requests. Send it again after the seconds in `retry-after`.',
  internal_error: 'A fault of the service. The message holds the id of the request.',
  upstream_rejected: 'The remote server refused the request.',
  upstream_error: 'The remote server could not be reached, or its answer was not usable.',
  session_unavailable: 'The board’s live document is not available now. Send the request again.',
  storage_unavailable: 'The database or the file storage is not available now. Send the request again.',
}

/** The codes of errors that the route can answer with. */
export function errorsOf({ method, path, scope, refuses = [], opensDocument }: Route): ErrorCode[] {
  const hasBody = method !== 'GET'
  const codes: (ErrorCode | false)[] = [
    'bad_request', // an unknown name in strict mode, if nothing else
    'invalid_token',
    scope !== 'read' && 'insufficient_scope', // every token can read
    path.includes(':') && 'not_found',
    ...refuses,
    method === 'POST' && 'conflict', // another request under an idempotency key
    method === 'POST' && 'idempotency_in_progress',
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

/** Responses with errors. Those with the same codes are one entry of `components.responses`. */
export class ErrorResponses {
  readonly responses: Record<string, object> = {}
  readonly #components: Components

  constructor(components: Components) {
    this.#components = components
  }

  /** By status. */
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

/** `not_found` → `NotFound` */
const pascal = (code: string) => code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
