/** An operation in the API description: its id, parameters, body, and all its answers. */
import type { TSchema } from 'typebox'
import type { Route } from '../http/route.ts'
import type { Components } from './components.ts'
import { errorsOf, type ErrorResponses } from './errors.ts'
import type { Example } from './examples.ts'
import { idempotencyKey, ifMatch, lastEventId, ofSuccess, prefer, refer } from '../http/headers.ts'

export interface Shared {
  components: Components
  errors: ErrorResponses
  /** By operation id. */
  examples: Record<string, Example>
}

export function describeOperation(route: Route, shared: Shared): Record<string, unknown> {
  const { method, scope, open, summary, description = '' } = route
  const id = operationId(route)
  const example = shared.examples[id]
  const body = requestBody(route, shared.components, example)
  return {
    summary,
    description: [description, open ? 'Needs no token.' : `Needs the scope \`${scope}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    operationId: id,
    tags: [tagOf(route.path)],
    security: open ? [] : [{ token: [] }, { oauth: [scope] }],
    parameters: [
      ...parametersIn('path', route.schemas.params, shared.components, example),
      ...parametersIn('query', route.schemas.query, shared.components, example),
      prefer,
      ...(method === 'POST' && !open ? [idempotencyKey] : []),
      ...(route.conditional ? [ifMatch] : []),
      ...(route.resumable ? [lastEventId] : []),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: { ...shared.errors.refer(errorsOf(route)), ...answers(route, shared.components, example) },
  }
}

/** `POST /boards/:id/cards` → `postBoardsByIdCards` */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .split(/[/-]/)
    .filter(Boolean)
    .map((part) => (part.startsWith(':') ? `By${capital(part.slice(1))}` : capital(part)))
  return method.toLowerCase() + (words.join('') || 'Root')
}
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** The tags that group the operations, in the order of the description. */
export const tags = [
  {
    name: 'Account',
    description: 'The caller’s account, its workspaces and notifications, and the list of endpoints.',
  },
  { name: 'Boards', description: 'Boards and their tree.' },
  { name: 'Cards', description: 'Cards on a board, their layout, import and export.' },
  { name: 'Groups', description: 'Groups of cards on a board.' },
  { name: 'Files', description: 'Images and other files.' },
  { name: 'Search', description: 'Search by words, and by identifiers in other systems.' },
  { name: 'Webhooks', description: 'URLs that events are posted to, and the delivery log.' },
  { name: 'Events', description: 'The stream of events.' },
  { name: 'Service accounts', description: 'Accounts for unattended integrations, and their tokens.' },
  {
    name: 'People',
    description:
      'Who has access: members of workspaces, accounts with single boards, invitations and guest links.',
  },
  { name: 'Sessions', description: 'Short-lived rights for the users of your own product.' },
  { name: 'Audit', description: 'The log of writes and image reads.' },
]

const tagByStart: [RegExp, string][] = [
  [/^\/(workspaces\/|links)/, 'People'],
  [/^\/boards\/:id\/(shares|links)/, 'People'],
  [/^\/boards\/:id\/groups/, 'Groups'],
  [/^\/boards\/:id\/(cards|arrange|import|export)/, 'Cards'],
  [/^\/boards/, 'Boards'],
  [/^\/(uploads|images)/, 'Files'],
  [/^\/(search|resolve)/, 'Search'],
  [/^\/webhooks/, 'Webhooks'],
  [/^\/events/, 'Events'],
  [/^\/service-accounts/, 'Service accounts'],
  [/^\/sessions/, 'Sessions'],
  [/^\/audit/, 'Audit'],
]

const tagOf = (path: string) => tagByStart.find(([start]) => start.test(path))?.[1] ?? 'Account'

function parametersIn(
  place: 'path' | 'query',
  given: TSchema | undefined,
  components: Components,
  example: Example | undefined,
): object[] {
  if (!given) return []
  const { properties, required = [] } = given as unknown as {
    properties: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, field]) => {
    const { description, ...schema } = components.refer(field)
    const value = example?.[place]?.[name]
    return {
      name,
      in: place,
      required: required.includes(name),
      description,
      schema,
      ...(value === undefined ? {} : { example: value }),
    }
  })
}

function requestBody(route: Route, components: Components, example: Example | undefined): object | null {
  const { takesBytes, described = {}, schemas } = route
  const value = example?.body === undefined ? {} : { example: example.body }
  if (takesBytes) {
    const schema = components.refer(described)
    return {
      required: true,
      content: Object.fromEntries(takesBytes.map((type) => [type, { schema, ...value }])),
    }
  }
  if (!schemas.body) return null
  const schema = components.refer(schemas.body)
  // A body that can be null is optional.
  const required = !(schema['anyOf'] as { type?: string }[] | undefined)?.some(({ type }) => type === 'null')
  return { required, content: { 'application/json': { schema, ...value } } }
}

function answers(route: Route, components: Components, example: Example | undefined): Record<string, object> {
  const own = route.answersSecret ? (['cache-control'] as const) : (route.answerHeaders ?? [])
  const headers = refer([
    ...ofSuccess,
    ...(route.method === 'POST' && !route.open ? (['idempotent-replay'] as const) : []),
    ...own,
  ])
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => {
      const { description, ...described } = schema as TSchema & { description?: string }
      const value =
        example?.status === Number(status) && example.answer !== undefined ? { example: example.answer } : {}
      return [
        status,
        {
          description: description ?? (status === '201' ? 'Created.' : 'Success.'),
          headers,
          ...content(described as TSchema, components, value),
        },
      ]
    }),
  )
}

/** The content of an answer: JSON, bytes (a schema with `content`), or nothing (type `null`). */
function content(
  schema: TSchema & { content?: object; type?: string },
  components: Components,
  example: object,
): object {
  if (schema.content) return { content: schema.content }
  if (schema.type === 'null') return {}
  return { content: { 'application/json': { schema: components.refer(schema), ...example } } }
}
