/** How the API description tells of a route: its name, what it takes, and exactly what it may answer. */
import Type, { type TSchema } from 'typebox'
import { statusOf, type ErrorCode } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import type { Route } from './route.ts'
import { errorAnswer } from './schemas.ts'

export function describeRoute(route: Route): Record<string, unknown> {
  const { params, query, body } = route.schemas
  return {
    summary: route.summary,
    operationId: operationId(route),
    tags: [tagOf(route.path)],
    description: `Needs the scope \`${route.scope}\`.`,
    ...(params ? { params } : {}),
    ...(query ? { querystring: query } : {}),
    ...(body ? { body } : {}),
    ...(route.method === 'POST' ? { headers: keyHeader } : {}),
    ...(route.takesBytes ? { body: { content: bytesOf(route.takesBytes, route.described) } } : {}),
    response: { ...errors(errorsOf(route)), ...successes(route.answers) },
  }
}

/** `POST /boards/:id/cards` → `postBoardsByIdCards` */
function operationId({ method, path }: Route): string {
  const words = path
    .split(/[/-]/)
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? `By${capital(part.slice(1))}` : capital(part)))
  return method.toLowerCase() + (words.join('') || 'Root')
}
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** Chapters of the description, in its order. */
export const tags = [
  { name: 'Account', description: 'Who asks, and what there is.' },
  { name: 'Boards', description: 'Boards and their tree.' },
  { name: 'Cards', description: 'Cards on a board, their layout, import and export.' },
  { name: 'Groups', description: 'Groups of cards on a board.' },
  { name: 'Files', description: 'Images and other files.' },
  { name: 'Search', description: 'By words, and by identifiers of other systems.' },
  { name: 'Webhooks', description: 'Where events are delivered to.' },
  { name: 'Service accounts', description: 'Accounts of unattended integrations, and their tokens.' },
  { name: 'Audit', description: 'What was written, and which images were read.' },
]

const tagByStart: [RegExp, string][] = [
  [/^\/boards\/:id\/groups/, 'Groups'],
  [/^\/boards\/:id\/(cards|arrange|import|export)/, 'Cards'],
  [/^\/boards/, 'Boards'],
  [/^\/(uploads|images)/, 'Files'],
  [/^\/(search|resolve)/, 'Search'],
  [/^\/webhooks/, 'Webhooks'],
  [/^\/service-accounts/, 'Service accounts'],
  [/^\/audit/, 'Audit'],
]

const tagOf = (path: string) => tagByStart.find(([start]) => start.test(path))?.[1] ?? 'Account'

/** As a body is described that is of one of these types. */
const bytesOf = (types: readonly string[], schema: TSchema = {}) =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

/** Described only: it is read before the schema is looked at. */
const keyHeader = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      description: `Up to ${limits.idempotency.key} characters. Sent again with the same key, the request is answered as the first time, for 24 hours.`,
    }),
  ),
})

const successes = (answers: Record<number, TSchema>) =>
  Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [status, { description: 'Success.', ...schema }]),
  )

/** Of a request before its handler is asked, and of what it needs to be answered at all. */
function errorsOf({ method, path, scope, schemas, refuses = [], opensDocument }: Route): ErrorCode[] {
  const hasBody = method !== 'GET'
  const codes: (ErrorCode | false)[] = [
    (hasBody || schemas.query !== undefined || schemas.params !== undefined) && 'bad_request',
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

/** Of what needs no token. */
export const errorsOfOpen: ErrorCode[] = ['rate_limited', 'internal_error', 'storage_unavailable']

export function errors(codes: ErrorCode[]): Record<number, unknown> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(statusOf[code], [...(byStatus.get(statusOf[code]) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { ...errorAnswer, description: codes.map((code) => `\`${code}\``).join(' or ') },
    ]),
  )
}
