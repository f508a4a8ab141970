/** The conditions of writes: the header `If-Match` (RFC 9110, 13.1.1), and the entity tags of cards and boards. */
import type { FastifyRequest } from 'fastify'
import Type, { type TProperties, type TSchema } from 'typebox'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { Expects } from '../../core/version.ts'
import type { Route } from './route.ts'
import { errorAnswer } from './schemas.ts'
import { oneOf, text } from './vocabulary.ts'

/** The headers of an answer that shows one object. */
export const tagged = ({ version }: Record<string, unknown>) => ({ etag: `"${String(version)}"` })

/**
 * The condition of a request. Undefined: any version will do, without the header and for `*`. A weak tag never matches.
 *
 * @throws ServiceError `bad_request`, also when the operation would ignore the condition
 */
export function conditionOf(route: Route, { headers }: FastifyRequest): Expects | undefined {
  const header = headers['if-match']
  if (header === undefined || route.method === 'GET') return undefined
  if (!route.conditional)
    throw badRequest(
      'If-Match: only PATCH and DELETE of one card or one board accept it. For several cards, send if_version with each of them.',
    )
  if (header.trim() === '*') return undefined
  const tags = new Set(tagsIn(header))
  return (version) => tags.has(`"${version}"`)
}

const tag = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** The tags of a list, with their quotes. The list may have empty elements. */
function tagsIn(list: string): string[] {
  const gaps = list.split(tag)
  const isList = gaps.every(
    (gap, at) => /^[ \t,]*$/.test(gap) && (at === 0 || at === gaps.length - 1 || gap.includes(',')),
  )
  if (gaps.length === 1 || !isList)
    throw badRequest('If-Match must be * or a list of entity tags in double quotes, such as "abc", "def".')
  return list.match(tag)!
}

/** The condition that an entry of a batch names. */
export const ifVersion = Type.Optional(
  text(
    'The `version` that the card must have. If it has another one, the card is left alone and is in `conflicts`.',
  ),
)

export const isVersion = (wanted: string | undefined): Expects | undefined =>
  wanted === undefined ? undefined : (version) => version === wanted

/** @param shows the object as it is now, under its name: `card` or `board` */
export function hasChanged(shows: { card: unknown } | { board: unknown }): ServiceError {
  const [name = ''] = Object.keys(shows)
  return new ServiceError(
    'precondition_failed',
    `The ${name} has another version than you expected. \`${name}\` shows it as it is now. Check your change against it, then send it again with that version.`,
    { shows },
  )
}

/** The answer 412. @param shows the schema of the object, under its name */
export const changedAnswer = (shows: TProperties): TSchema => ({
  ...Type.Intersect([
    errorAnswer,
    Type.Object({ code: oneOf(['precondition_failed'], 'The codes of this status.'), ...shows }),
  ]),
  description: '`precondition_failed`: the condition in `If-Match` is false. Nothing was changed.',
})
