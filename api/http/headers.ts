/** Headers of requests and answers, for the API description. */
import { limits } from '../../core/limits.ts'

interface Header {
  description: string
  schema: Record<string, unknown>
}

/** The bytes of a key never change. */
export const fileCaching = `private, max-age=${limits.files.cacheSeconds}, immutable`

const text = (description: string) => ({ description, schema: { type: 'string' } })
const whole = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })
const only = (value: string, description: string) => ({
  description,
  schema: { type: 'string', enum: [value] },
})

/** Headers of answers that scripts of other origins may read. */
export const exposed = {
  'x-ratelimit-limit': whole('Requests that the token may send in an hour.'),
  'x-ratelimit-remaining': whole('Requests that are left in this hour.'),
  'x-ratelimit-reset': whole('When the oldest counted request no longer counts, in Unix seconds.'),
  ratelimit: text(
    'The requests that are left and the seconds until the reset, in the format of draft-ietf-httpapi-ratelimit-headers-10, such as `"hour";r=998;t=3540`.',
  ),
  'ratelimit-policy': text(
    'The limit, in the format of draft-ietf-httpapi-ratelimit-headers-10, such as `"hour";q=1000;w=3600`.',
  ),
  'retry-after': whole('Seconds to wait before you retry the request. Sent with 429 and 503.'),
  'idempotent-replay': only(
    'true',
    'Present when this is the stored answer to an earlier POST with the same `Idempotency-Key`.',
  ),
  'x-request-id': text('Id of this request. Include it when you report a problem.'),
  etag: text(
    'Of a file: identifies its bytes. Send it in `If-None-Match` to get 304 instead of the same bytes. Of a card or a board: its `version` in quotes. Send it in `If-Match` to change only this version.',
  ),
  'x-unknown-fields': text(
    'Names of unknown query parameters and body fields, which were ignored. Percent-encoded and separated by commas.',
  ),
  'preference-applied': only(
    'handling=strict',
    'Present when the request asked for `Prefer: handling=strict`.',
  ),
  'www-authenticate': text(
    'The URL of the metadata that tells how to get a token (RFC 9728). On 403 also the required scopes (RFC 6750).',
  ),
} as const satisfies Record<string, Header>

const others = {
  'cache-control': text(
    `How long the answer may be cached. Files: \`${fileCaching}\`, because the bytes of a key never change. Answers with a secret: \`no-store\`.`,
  ),
  vary: text('A cached copy is valid only for requests with the same token.'),
  'accept-ranges': text('`bytes`: parts of the file can be requested with `Range`.'),
  'content-range': text('On 206, the range that is sent. On 416, the size of the file.'),
  'content-disposition': text(
    'Whether a browser may show the file (`inline`) or must download it (`attachment`).',
  ),
} as const satisfies Record<string, Header>

/** The content of `components.headers`. */
export const headerComponents: Record<string, Header> = { ...exposed, ...others }
export type HeaderName = keyof typeof exposed | keyof typeof others

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

/** Refusals of a POST for its content are replayed too. */
export const ofRefusal: HeaderName[] = [...ofSuccess, 'idempotent-replay']

/** Headers of requests. Hooks read them, so they are not part of the routes' schemas. */
export const prefer = {
  name: 'Prefer',
  in: 'header',
  description:
    '`handling=strict`: unknown query parameters and body fields are refused with 400. Without it they are ignored, and listed in the header `x-unknown-fields` of the answer.',
  schema: { type: 'string' },
}
export const ifMatch = {
  name: 'If-Match',
  in: 'header',
  description:
    'The `etag` that you read: the `version` in quotes. If the object has another version, the answer is 412, and nothing is changed. Accepts several tags, separated by commas. `*` accepts every version.',
  schema: { type: 'string' },
}
export const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: `The \`id\` of the last event that you got. The stream begins after it. An id that is older than ${limits.eventStreams.days} days or unknown gets a \`reset\` event.`,
  schema: { type: 'string' },
}
export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: `Makes it safe to retry the request. For ${limits.idempotency.rememberMs / 3_600_000} hours, the same request with the same key gets the first answer, and nothing is done twice. Any text of 1 to ${limits.idempotency.key} characters, such as a UUID.`,
  schema: { type: 'string', minLength: 1, maxLength: limits.idempotency.key },
}
