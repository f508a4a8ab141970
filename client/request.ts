/** One request of any operation. */
import type { Answer, Input, Operation } from './operations.ts'
import { openTransport, type ClientOptions, type SendOptions } from './transport.ts'

/** The second argument may be left out where an operation requires nothing. */
export type Arguments<T> = object extends T ? [input?: T & SendOptions] : [input: T & SendOptions]

export type RequestOperation = <O extends Operation>(
  operation: O,
  ...input: Arguments<Input<O>>
) => Promise<Answer<O>>

interface AnyInput extends SendOptions {
  path?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
}

export function openRequest(options: ClientOptions): RequestOperation {
  const send = openTransport(options)
  return ((operation: Operation, input: AnyInput = {}) => {
    const [method = '', path = ''] = operation.split(' ')
    const { path: inPath = {}, query = {}, body, ...sending } = input
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(inPath[name]!))
    return send({ ...sending, ...encode(body), method, path: filled + queryText(query) })
  }) as RequestOperation
}

function encode(body: unknown) {
  if (body === undefined) return {}
  if (!(body instanceof Blob || body instanceof ArrayBuffer || body instanceof Uint8Array))
    return { body: JSON.stringify(body) }
  const contentType = (body instanceof Blob && body.type) || 'application/octet-stream'
  return { body: body as Blob | ArrayBuffer | Uint8Array<ArrayBuffer>, contentType }
}

function queryText(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}
