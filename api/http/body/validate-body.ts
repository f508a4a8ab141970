/**
 * Compiles body schemas to validators. Long lists are validated entry by entry, so that the event loop runs other work.
 */
import type { ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { badRequest, type ServiceError } from '../../../core/errors.ts'
import { LoopTurn } from '../../../platform/work/loop-turn.ts'
import { schemaMessage, type SchemaError } from '../error-reply.ts'
import { compileSchema } from '../validate.ts'

/** Lists with at most this many entries are validated with the whole body, in one step. */
const shortList = 4

type ArraySchema = TSchema & { items: TSchema }

/**
 * A validator for Fastify. For a body with long lists it returns a promise that rejects with the error. It can't set
 * `errors` on the function, because two requests may be validated at the same time.
 */
export function compileBody(schema: TSchema): ValidateFunction {
  const lists = listsOf(schema)
  const whole = compileSchema(schema, 'body')
  if (lists.length === 0) return whole
  const shell = compileSchema(withoutItems(schema, lists), 'body')
  const entries = new Map(lists.map(([name, { items }]) => [name, compileSchema(items, 'body')]))
  const validate = (body: unknown): boolean | Promise<true> => {
    if (hasLongList(body, entries)) return validateInTurns(body, shell, entries)
    const isValid = whole(body)
    Object.assign(validate, { errors: whole.errors })
    return isValid
  }
  return validate as unknown as ValidateFunction
}

const listsOf = (schema: TSchema): [name: string, schema: ArraySchema][] =>
  Object.entries((schema as { properties?: Record<string, ArraySchema> }).properties ?? {}).filter(
    ([, { items }]) => items !== undefined,
  )

function withoutItems(schema: TSchema, lists: [string, ArraySchema][]): TSchema {
  const shells = lists.map(([name, { items: _items, ...shell }]) => [name, shell])
  const { properties } = schema as { properties?: object }
  return { ...schema, properties: { ...properties, ...Object.fromEntries(shells) } } as TSchema
}

type Body = Record<string, unknown>

function hasLongList(body: unknown, lists: ReadonlyMap<string, unknown>): body is Body {
  if (typeof body !== 'object' || body === null) return false
  for (const name of lists.keys()) {
    const list = (body as Body)[name]
    if (Array.isArray(list) && list.length > shortList) return true
  }
  return false
}

/** @throws ServiceError `bad_request` */
async function validateInTurns(
  body: Body,
  shell: ValidateFunction,
  lists: ReadonlyMap<string, ValidateFunction>,
): Promise<true> {
  const turn = new LoopTurn()
  if (!shell(body)) throw invalid(shell.errors, '')
  for (const [name, validate] of lists) {
    const list = body[name]
    if (!Array.isArray(list)) continue
    for (const [at, entry] of list.entries()) {
      if (turn.isOver()) await turn.next()
      if (!validate(entry)) throw invalid(validate.errors, `/${name}/${at}`)
    }
  }
  return true
}

function invalid(errors: ValidateFunction['errors'], path: string): ServiceError {
  const located = (errors as SchemaError[]).map((error) => ({
    ...error,
    instancePath: path + error.instancePath,
  }))
  return badRequest(schemaMessage(located))
}
