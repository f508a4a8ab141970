/** Compares the answers of a service with its own API description. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { exposed } from '../../api/http/headers.ts'
import { describedBy, observed, type Described } from './observed.ts'

export interface Answered {
  status: number
  /** Null when the body is not JSON. */
  body: unknown
  text: string
  headers?: Headers
}

type Response = { content?: Record<string, { schema: object }>; headers?: Record<string, object> }
interface Operation {
  responses: Record<string, Response | { $ref: string }>
}

/** Resolves a reference such as `#/components/responses/NotFound`. Returns any other value unchanged. */
export function resolve<T extends object>(description: object, given: T | { $ref: string }): T {
  if (!('$ref' in given)) return given
  const steps = given.$ref.split('/').slice(1)
  return steps.reduce<any>((at, step) => at[step], description)
}

/** Compiles schemas of the description, and resolves their references in it. */
export function schemaCompiler(description: object): (schema: object) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const { components } = description as { components: object }
  ajv.addSchema({ components }, 'description')
  return (schema) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"description#/components/')))
}

type Hold = (method: string, path: string, answer: Answered) => void
const descriptions = new Map<string, Promise<Hold>>()

/**
 * @param path below the API root. Paths and methods outside the description are ignored
 * @throws when the answer differs from the description
 */
export async function holdAgainstDescription(
  serviceUrl: string,
  method: string,
  path: string,
  answer: Answered,
): Promise<void> {
  let hold = descriptions.get(serviceUrl)
  if (!hold) descriptions.set(serviceUrl, (hold = readDescription(serviceUrl)))
  ;(await hold)(method, path, answer)
}

async function readDescription(serviceUrl: string): Promise<Hold> {
  const description = (await (await fetch(`${serviceUrl}/api/v1/openapi.json`)).json()) as Described
  if (!description.paths) return () => undefined // the service can't return its description now, and every answer is an error
  describedBy(description)
  const validatorOf = validatorsOf(description)
  const find = operationFinder(Object.keys(description.paths))
  return (method, path, answer) => {
    const template = find(path)
    const operation =
      template && (description.paths[template]![method.toLowerCase()] as Operation | undefined)
    if (!operation) return
    const response = operation.responses[String(answer.status)]
    if (!response)
      throw new Error(`${method} ${path} answered ${answer.status}, which the API description does not know`)
    const described = resolve<Response>(description, response)
    holdHeaders(`${method} ${path}`, described, answer)
    const schema = described.content?.['application/json']?.schema
    if (schema) {
      const validate = validatorOf(schema)
      if (!validate(answer.body)) {
        throw new Error(
          `${method} ${path} answered ${answer.status} other than described: ${errorsText(validate)}\n${answer.text.slice(0, 500)}`,
        )
      }
    }
    const code = answer.status >= 400 ? ((answer.body as { code?: string } | null)?.code ?? '') : ''
    observed({ how: 'held', operation: `${method} ${template}`, status: answer.status, code })
  }
}

const byComponents = new Map<string, (schema: object) => ValidateFunction>()

/** Schemas are compiled once for all services whose descriptions have the same components. */
function validatorsOf(description: object): (schema: object) => ValidateFunction {
  return byComponents.getOrInsertComputed(
    JSON.stringify((description as { components?: object }).components),
    () => {
      const compile = schemaCompiler(description)
      const compiled = new Map<string, ValidateFunction>()
      return (schema) => compiled.getOrInsertComputed(JSON.stringify(schema), () => compile(schema))
    },
  )
}

/** Checks that each header sent is described for this answer, if the description has this header anywhere. */
function holdHeaders(
  operation: string,
  { headers = {} }: Response,
  { status, headers: sent }: Answered,
): void {
  if (!sent) return
  for (const name of Object.keys(exposed))
    if (sent.has(name) && !(name in headers))
      throw new Error(`${operation} answered ${status} with ${name}, which the API description does not know`)
}

const errorsText = ({ errors }: ValidateFunction) =>
  (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join(', ')

/** Returns the template that matches a path, or null. Words take precedence over parameters. */
export function operationFinder(templates: string[]): (path: string) => string | null {
  const ordered = templates
    .map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`),
      parameters: template.split('{').length,
    }))
    .toSorted((a, b) => a.parameters - b.parameters)
  return (path) => {
    const bare = path.split('?')[0] || '/'
    return ordered.find(({ pattern }) => pattern.test(bare))?.template ?? null
  }
}
