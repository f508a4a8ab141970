/** Headers of requests and answers, as the API description has them. */
import { limits } from '../../core/limits.ts'

interface Header {
  description: string
  schema: Record<string, unknown>
}

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 0 }

/** Headers of answers that scripts of other origins may read. */
export const exposed = {
  'x-ratelimit-limit': {
    description: 'Requests that the token may send in an hour.',
    schema: whole,
  },
  'x-ratelimit-remaining': {
    description: 'Requests that are left in the current hour.',
    schema: whole,
  },
  'x-ratelimit-reset': {
    description: 'When the oldest counted request leaves the hour, in Unix seconds.',
    schema: whole,
  },
  ratelimit: {
    description:
      'The requests that are left and the seconds until the reset, in the form of draft-ietf-httpapi-ratelimit-headers-10, such as `"hour";r=998;t=3540`.',
    schema: text,
  },
  'ratelimit-policy': {
    description:
      'The limit in the form of draft-ietf-httpapi-ratelimit-headers-10, such as `"hour";q=1000;w=3600`.',
    schema: text,
  },
  'retry-after': {
    description: 'Seconds to wait before the request is sent again. On 429 and 503.',
    schema: whole,
  },
  'idempotent-replay': {
    description: 'Present when this is the stored answer to an earlier POST with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  'x-request-id': {
    description: 'Id of this request. Name it when you report a problem.',
    schema: text,
  },
  etag: {
    description:
      'Identifies the bytes of the file. Send it in `If-None-Match` to get 304 instead of the same bytes.',
    schema: text,
  },
  'x-unknown-fields': {
    description:
      'Names of the query parameters and body fields that were ignored because the operation does not know them: percent-encoded and separated by commas.',
    schema: text,
  },
  'preference-applied': {
    description: 'Present when the request asked for `Prefer: handling=strict`.',
    schema: { type: 'string', enum: ['handling=strict'] },
  },
  'www-authenticate': {
    description:
      'Where a client finds out how to get a token (RFC 9728), and the scopes that are missing (RFC 6750).',
    schema: text,
  },
} as const satisfies Record<string, Header>

const others = {
  'cache-control': {
    description:
      'How long the answer may be cached. Files: `private, max-age=86400, immutable`, because the bytes under a key never change. Answers with a secret: `no-store`.',
    schema: text,
  },
  vary: { description: 'A cached copy is only for requests with the same token.', schema: text },
  'accept-ranges': { description: '`bytes`: parts of the file can be requested with `Range`.', schema: text },
  'content-range': {
    description: 'On 206, the part that is sent; on 416, the size of the file.',
    schema: text,
  },
  'content-disposition': {
    description: 'Whether a browser may show the file (`inline`) or must download it (`attachment`).',
    schema: text,
  },
} as const satisfies Record<string, Header>

const all: Record<string, Header> = { ...exposed, ...others }
export type HeaderName = keyof typeof exposed | keyof typeof others

/** For `components.headers`. */
export const headerComponents = (): Record<string, object> =>
  Object.fromEntries(
    Object.entries(all).map(([name, { description, schema }]) => [name, { description, schema }]),
  )

/** The `headers` of a response. */
export const refer = (names: readonly HeaderName[]): Record<string, object> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

export const ofEveryAnswer: HeaderName[] = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
]
export const ofSuccess: HeaderName[] = [...ofEveryAnswer, 'x-unknown-fields', 'preference-applied']

/** A POST that was refused for what it sends is replayed too. */
export const ofRefusal: HeaderName[] = [...ofSuccess, 'idempotent-replay']

/** Headers of requests. They are read before schemas are looked at. */
export const prefer = {
  name: 'Prefer',
  in: 'header',
  description:
    '`handling=strict` refuses unknown query parameters and body fields with 400. Without it they are ignored and listed in the answer’s header `x-unknown-fields`.',
  schema: { type: 'string' },
}
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: `Makes it safe to send the request again: for ${limits.idempotency.rememberMs / 3_600_000} hours the same request with the same key gets the first answer and nothing is done twice. Any text of 1 to ${limits.idempotency.key} characters, such as a UUID.`,
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency.key },
}
