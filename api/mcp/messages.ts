/** The body of `POST /mcp` → JSON-RPC messages. What is no message at all is answered here. */
import { limits } from '../../core/limits.ts'
import { BodyScan } from '../http/body/scan.ts'
import { isStorableJson } from '../http/body/storable.ts'
import type { Answer } from '../http/route.ts'

/** Of JSON-RPC, and of the server's own range as the SDK uses it. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  internalError: -32603,
  /** The transport refuses the request. */
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
  if (!acceptsJson(headers.accept))
    return refused(406, rpcCodes.refused, 'Not Acceptable: the answer is application/json.')
  if (!/^\s*application\/json\s*(;|$)/i.test(headers['content-type'] ?? ''))
    return refused(415, rpcCodes.refused, 'Unsupported Media Type: send content-type application/json.')
  let text: string
  let body: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? new Uint8Array())
    const size = boundsFault(bytes ?? new Uint8Array())
    if (size !== null) return refused(400, rpcCodes.invalidRequest, `Invalid Request: ${size}`)
    body = JSON.parse(text)
  } catch {
    return refused(400, rpcCodes.parseError, 'Parse error: the body is not JSON in UTF-8.')
  }
  const fault = isStorableJson(text) ? idFault(body) : unstorable
  if (fault !== null) return refused(400, rpcCodes.invalidRequest, `Invalid Request: ${fault}`)
  if (!Array.isArray(body)) return { kind: 'one', message: body }
  if (body.length === 0) return refused(400, rpcCodes.invalidRequest, 'Invalid Request: the batch is empty.')
  if (body.length > messageLimits.batch)
    return refused(
      400,
      rpcCodes.invalidRequest,
      `Invalid Request: a batch holds at most ${messageLimits.batch} messages.`,
    )
  return { kind: 'batch', messages: body }
}

/** Answers are never streamed, whatever else a client would take. */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true
  return accept
    .split(',')
    .map((part) => part.split(';', 1)[0]!.trim().toLowerCase())
    .some((type) => type === 'application/json' || type === 'application/*' || type === '*/*')
}

/** What is wrong with the size of a body, told before it is parsed: its depth, or the number of its values. */
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

const unstorable = 'text must be without U+0000 and without halves of surrogate pairs.'

/** Of a request; null of anything else. */
export function idOf(message: unknown): RpcId {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
