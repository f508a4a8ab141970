/**
 * Finds query parameters and body fields that an operation does not know. They are ignored, and listed in the header
 * `x-unknown-fields`. With `Prefer: handling=strict` (RFC 7240) they are refused.
 *
 * A client can send an object back as it was read. So the fields of an operation's answers are known in its body too.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { badRequest, type ServiceError } from '../../core/errors.ts'
import { LoopTurn } from '../../platform/work/loop-turn.ts'
import type { Route } from './route.ts'

/** The most names and bytes in the header. */
const listed = { names: 20, bytes: 1024 }

/**
 * Field names of an object, with those of nested objects. Null: any value is accepted, or the value has no fields.
 * Undefined: the field is read-only, and ignored.
 */
type Known = Map<string, Known | null | undefined>

interface Schema {
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  items?: Schema
  anyOf?: Schema[]
}

interface Unknown {
  name: string
  /** In an error message: `cards[3].`, or empty. */
  where: string
  known: Known
}

/**
 * A hook that runs before schema validation: for a mistyped field, "unknown field" helps more than "required field
 * missing".
 */
export function tellUnknownNames(route: Route) {
  const query = knownOf(route.schemas.query) ?? new Map<string, null>()
  const fields = route.takesBytes ? null : bodyNames(route)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const isStrict = wantsStrict(request.headers.prefer)
    const search = new Search(isStrict ? 1 : listed.names)
    search.object(request.query, query, '')
    const inQuery = search.found.length
    if (fields) await search.body(request.body, fields)
    const { found } = search
    if (!isStrict) {
      if (found.length > 0) reply.header('x-unknown-fields', headerOf(found))
      return
    }
    reply.header('preference-applied', 'handling=strict')
    const [first] = found
    if (first) throw unknownName(first, inQuery > 0 ? 'query parameter' : 'field')
  }
}

/**
 * The path of the first field that neither the schema nor an answer of the operation knows, and the known name that is
 * most like it. Null: all are known.
 */
export function firstUnknown(
  value: unknown,
  schema: TSchema,
  route: Route,
): { path: string; near: string | null } | null {
  const search = new Search(1)
  search.object(value, withAnswered(knownOf(schema), route), '')
  const [first] = search.found
  return first ? { path: pathOf(first), near: nearOf(first) } : null
}

/** RFC 7240: preferences are separated by commas, their parameters by semicolons. */
export function wantsStrict(prefer: string | string[] | undefined): boolean {
  const preferences = String(prefer ?? '').split(',')
  return preferences.some((preference) => /^\s*handling\s*=\s*"?strict"?\s*(;|$)/i.test(preference))
}

class Search {
  readonly found: Unknown[] = []
  readonly #seen = new Set<string>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get #isOver(): boolean {
    return this.found.length >= this.#most
  }

  /** Searches a body. Lets the event loop run other work during long lists. */
  async body(body: unknown, known: Known): Promise<void> {
    if (!isObject(body)) return
    this.#names(body, known, '', '')
    const turn = new LoopTurn()
    for (const [name, value] of Object.entries(body)) {
      const inner = known.get(name)
      if (!inner) continue
      if (!Array.isArray(value)) this.#object(value, inner, `${name}.`, `${name}.`)
      else
        for (const [at, entry] of value.entries()) {
          if (this.#isOver) return
          if (turn.isOver()) await turn.next()
          this.#object(entry, inner, `${name}.`, `${name}[${at}].`)
        }
    }
  }

  object(value: unknown, known: Known, path: string): void {
    this.#object(value, known, path, path)
  }

  #object(value: unknown, known: Known, path: string, where: string): void {
    if (!isObject(value)) return
    this.#names(value, known, path, where)
    for (const [name, inner] of known) {
      const field = inner && value[name]
      if (!field) continue
      if (!Array.isArray(field)) this.#object(field, inner, `${path}${name}.`, `${where}${name}.`)
      else
        for (const [at, entry] of field.entries()) {
          if (this.#isOver) return
          this.#object(entry, inner, `${path}${name}.`, `${where}${name}[${at}].`)
        }
    }
  }

  #names(object: Record<string, unknown>, known: Known, path: string, where: string): void {
    for (const name in object) {
      if (this.#isOver) return
      if (known.has(name) || this.#seen.has(path + name)) continue
      this.#seen.add(path + name)
      this.found.push({ name: path + name, where, known })
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function headerOf(found: Unknown[]): string {
  let header = ''
  for (const { name } of found) {
    const text = header === '' ? encodeURIComponent(name) : `${header}, ${encodeURIComponent(name)}`
    if (text.length > listed.bytes) break
    header = text
  }
  // If even the first name is too long, it is cut, but not within an escape.
  return (
    header ||
    encodeURIComponent(found[0]!.name.slice(0, listed.bytes)).slice(0, listed.bytes).replace(/%.?$/, '')
  )
}

function unknownName(unknown: Unknown, what: string): ServiceError {
  const near = nearOf(unknown)
  const hint = near === null ? `This operation has no ${what}s.` : `Did you mean ${near}?`
  return badRequest(
    `${pathOf(unknown)} is not a known ${what}. ${hint} Correct or remove it. Without Prefer: handling=strict it would be ignored.`,
  )
}

const lastOf = ({ name }: Unknown) => name.slice(name.lastIndexOf('.') + 1)

const pathOf = (unknown: Unknown) => unknown.where + lastOf(unknown).slice(0, 100)

/** The path of the known field that is most like it. */
function nearOf(unknown: Unknown): string | null {
  const taken = [...unknown.known].filter(([, inner]) => inner !== undefined).map(([name]) => name)
  const near = nearest(lastOf(unknown), taken)
  return near === null ? null : unknown.where + near
}

/** The most similar known name, by edit distance and common prefix. Null when no name is known. */
export function nearest(name: string, known: readonly string[]): string | null {
  const short = name.toLowerCase().slice(0, 64)
  const cost = (other: string) => distance(short, other) - 2 * commonStart(short, other)
  let best: string | null = null
  for (const other of known) if (best === null || cost(other) < cost(best)) best = other
  return best
}

function commonStart(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let n = 0; n < a.length; n++) {
    const next = [n + 1]
    for (let m = 0; m < b.length; m++)
      next.push(Math.min(next[m]! + 1, row[m + 1]! + 1, row[m]! + (a[n] === b[m] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}

const bodyNames = (route: Route): Known => withAnswered(knownOf(route.schemas.body), route)

/** Adds the fields of the operation's answers to the known names of a body and of its list entries. */
function withAnswered(names: Known | null, route: Route): Known {
  const known = names ?? new Map<string, null>()
  const answered = answeredNames(route)
  for (const inner of [known, ...known.values()])
    if (inner && (inner === known || isEntry(known, inner)))
      for (const name of answered) if (!inner.has(name)) inner.set(name, undefined)
  return known
}

/** Lists whose entries are the resources of the operation, unlike lists of small objects such as identifiers. */
const entryLists = ['cards', 'boards', 'items']
const isEntry = (known: Known, inner: Known) => entryLists.some((name) => known.get(name) === inner)

/** Fields of the objects in a successful answer. */
function answeredNames({ answers }: Route): Set<string> {
  const names = new Set<string>()
  for (const [status, answer] of Object.entries(answers)) {
    if (Number(status) >= 300) continue
    for (const inner of knownOf(answer)?.values() ?? [])
      for (const name of inner?.keys() ?? []) names.add(name)
  }
  return names
}

function knownOf(schema: TSchema | Schema | undefined): Known | null {
  const { properties, additionalProperties, items, anyOf } = (schema ?? {}) as Schema
  if (items) return knownOf(items)
  if (anyOf) {
    const branches = anyOf.map(knownOf).filter((branch) => branch !== null)
    return branches.length === 0 ? null : new Map(branches.flatMap((branch) => [...branch]))
  }
  if (!properties || additionalProperties === true) return null
  return new Map(Object.entries(properties).map(([name, inner]) => [name, knownOf(inner)]))
}
