/** Parses the body of `POST /mcp` into JSON-RPC messages, and refuses bodies that are malformed or too large. */
import { limits } from '../../core/limits.ts'
import { BodyScan } from '../http/body/scan.ts'
import { isStorableJson } from '../http/body/storable.ts'
import type { Answer } from '../http/route.ts'

/** Error codes of JSON-RPC, and of its range for server errors as the MCP SDK uses it. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  internalError: -32603,
  /** The request was refused before a method ran. */
  refused: -32000,
} as const

export const messageLimits = { bodyBytes: 4 * 1024 * 1024, batch: 100, depth: 32, id: 255 } as const

export type Messages =
  | { kind: 'one'; message: unknown }
  | { kind: 'batch'; messages: unknown[] }
  | { kind: 'refused'; answer: Answer }

export type RpcId = string | number | null

export const rpcError = (code: number, message: string, id: RpcId = null, data?: object) => ({
  jsonrpc: '2.0',
  error: { code, message, ...(data ? { data } : {}) },
  id,
})

export const refuse = (status: number, code: number, message: string, id: RpcId = null): Answer => ({
  status,
  body: rpcError(code, message, id),
})

export function readMessages(
  bytes: Uint8Array | null,
  headers: { accept?: string; 'content-type'?: string },
): Messages {
  const refused = (status: number, code: number, message: string): Messages => ({
    kind: 'refused',
    answer: refuse(status, code, message),
  })
  const invalid = (fault: string) => refused(400, rpcCodes.invalidRequest, `Invalid Request: ${fault}`)
  if (!acceptsJson(headers.accept))
    return refused(406, rpcCodes.refused, 'Not Acceptable: Accept must include application/json.')
  if (!/^\s*application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return refused(415, rpcCodes.refused, 'Unsupported Media Type: send content-type application/json.')
  let text: string
  let body: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? new Uint8Array())
    const size = boundsFault(bytes ?? new Uint8Array())
    if (size !== null) return invalid(size)
    body = JSON.parse(text)
  } catch {
    return refused(400, rpcCodes.parseError, 'Parse error: the body must be JSON in UTF-8.')
  }
  const fault = isStorableJson(text) ? idFault(body) : unstorable
  if (fault !== null) return invalid(fault)
  if (!Array.isArray(body)) return { kind: 'one', message: body }
  if (body.length === 0) return invalid('a batch must hold at least one message.')
  if (body.length > messageLimits.batch)
    return invalid(`a batch must hold at most ${messageLimits.batch} messages.`)
  return { kind: 'batch', messages: body }
}

/** Whether the client accepts JSON. Answers are never sent as an event stream. */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true
  return accept
    .split(',')
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase())
    .some((type) => type === 'application/json' || type === 'application/*' || type === '*/*')
}

/** Checks the depth of a body and the number of its values before it is parsed. Null: within the limits. */
function boundsFault(bytes: Uint8Array): string | null {
  try {
    new BodyScan({ ...limits.json, depth: messageLimits.depth, entryBytes: messageLimits.bodyBytes }).push(
      bytes,
    )
    return null
  } catch (error) {
    return (error as Error).message
  }
}

function idFault(body: unknown): string | null {
  for (const message of Array.isArray(body) ? body : [body]) {
    const id = idOf(message)
    if (typeof id === 'string' && id.length > messageLimits.id)
      return `an id has at most ${messageLimits.id} characters.`
  }
  return null
}

const unstorable = 'text must not contain U+0000 or a lone surrogate.'

/** The id of a JSON-RPC request. Null for a message without a valid id. */
export function idOf(message: unknown): RpcId {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
