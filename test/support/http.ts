/** An API client. Every answer it sees is held against the API description. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export interface ApiAnswer<Body = Record<string, never>> {
  status: number
  headers: Headers
  body: Body
  text: string
}

interface Description {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >
}

const descriptions = new Map<
  string,
  Promise<(method: string, path: string, answer: ApiAnswer<unknown>) => void>
>()

export class ApiClient {
  readonly #url: string
  readonly #token: string | null

  constructor(url: string, token: string | null) {
    this.#url = url
    this.#token = token
  }

  get<Body = any>(path: string, headers?: Record<string, string>): Promise<ApiAnswer<Body>> {
    return this.send<Body>('GET', path, undefined, headers)
  }

  post<Body = any>(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer<Body>> {
    return this.send<Body>('POST', path, body, headers)
  }

  patch<Body = any>(path: string, body?: unknown): Promise<ApiAnswer<Body>> {
    return this.send<Body>('PATCH', path, body)
  }

  delete<Body = any>(path: string, body?: unknown): Promise<ApiAnswer<Body>> {
    return this.send<Body>('DELETE', path, body)
  }

  async send<Body = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer<Body>> {
    const response = await fetch(`${this.#url}/api/v1${path}`, {
      method,
      headers: {
        ...(this.#token ? { authorization: `Bearer ${this.#token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = response.headers.get('content-type')?.includes('json') ?? false
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (json ? JSON.parse(text) : null) as Body,
      text,
    }
    const check = await this.#checker()
    check(method, path, answer)
    return answer
  }

  #checker() {
    let checker = descriptions.get(this.#url)
    if (!checker) descriptions.set(this.#url, (checker = loadChecker(this.#url)))
    return checker
  }
}

async function loadChecker(url: string) {
  const description = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as Description
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const validators = new Map<object, ValidateFunction>()
  const templates = Object.entries(description.paths).map(([template, operations]) => ({
    operations,
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`),
  }))
  return (method: string, path: string, answer: ApiAnswer<unknown>) => {
    const bare = path.split('?')[0] || '/'
    const operation = templates
      .filter(({ pattern }) => pattern.test(bare))
      .map(({ operations }) => operations[method.toLowerCase()])
      .find((found) => found !== undefined)
    if (!operation) return
    const described = operation.responses[String(answer.status)]
    if (!described)
      throw new Error(`${method} ${path} answered ${answer.status}, which the API description does not know`)
    const schema = described.content?.['application/json']?.schema
    if (!schema) return
    let validate = validators.get(schema)
    if (!validate) validators.set(schema, (validate = ajv.compile(schema)))
    if (!validate(answer.body)) {
      throw new Error(
        `${method} ${path} answered ${answer.status} other than described: ${ajv.errorsText(validate.errors)}\n${answer.text.slice(0, 500)}`,
      )
    }
  }
}
