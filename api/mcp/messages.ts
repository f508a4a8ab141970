/** The body of `POST /mcp` → JSON-RPC messages. What is no message at all is answered here. */
import { isStorable } from '../json-body.ts'
import type { Answer } from '../route.ts'

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
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes ?? new Uint8Array()))
  } catch {
    return refused(400, rpcCodes.parseError, 'Parse error: the body is not JSON in UTF-8.')
  }
  const fault = faultOf(body)
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

/** Depth, ids, and text that cannot be stored. Without recursion: bodies can be deep. */
function faultOf(body: unknown): string | null {
  for (const message of Array.isArray(body) ? body : [body]) {
    const id = idOf(message)
    if (typeof id === 'string' && id.length > messageLimits.id)
      return `an id has at most ${messageLimits.id} characters.`
  }
  const open: { value: unknown; depth: number }[] = [{ value: body, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next
    if (typeof value === 'string' && !isStorable(value)) return unstorable
    if (typeof value !== 'object' || value === null) continue
    if (depth === messageLimits.depth) return `messages are at most ${messageLimits.depth} levels deep.`
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) return unstorable
      open.push({ value: inner, depth: depth + 1 })
    }
  }
  return null
}

const unstorable = 'text must be without U+0000 and without halves of surrogate pairs.'

/** Of a request; null of anything else. */
export function idOf(message: unknown): RpcId {
  const id = typeof message === 'object' && message !== null ? (message as { id?: unknown }).id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
