/** An API client. It compares every answer with the API description. */
import { holdAgainstDescription } from './description.ts'

export interface ApiAnswer<Body = Record<string, never>> {
  status: number
  headers: Headers
  body: Body
  text: string
}

export class ApiClient {
  readonly #nextUrl: () => string
  readonly #token: string | null

  /** @param url of the service, or a function that returns it for each call */
  constructor(url: string | (() => string), token: string | null) {
    this.#nextUrl = typeof url === 'string' ? () => url : url
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
    const url = this.#nextUrl()
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(this.#token ? { authorization: `Bearer ${this.#token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    // A stream has no end.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    if (isStream) await response.body!.cancel()
    const text = isStream ? '' : await response.text()
    const json = response.headers.get('content-type')?.includes('json') ?? false
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (json ? JSON.parse(text) : null) as Body,
      text,
    }
    await holdAgainstDescription(url, method, path, answer)
    return answer
  }
}
