import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { requireRights } from '../http/authenticate.ts'
import { reportFailure } from '../http/error-reply.ts'
import { route, type Answer } from '../http/route.ts'
import { errorAnswer } from '../http/schemas.ts'
import type { Caller } from './caller.ts'
import { requireLocal } from './local-host.ts'
import { idOf, messageLimits, readMessages, refuse, rpcCodes, rpcError } from './messages.ts'
import { serveMessage, type Served } from './serve.ts'
import { findTool } from './tools.ts'

const jsonrpc = Type.Literal('2.0', { description: 'The version of JSON-RPC.' })
const message = Type.Object(
  { jsonrpc },
  { additionalProperties: true, description: 'A JSON-RPC 2.0 request, notification or response.' },
)
const messages = Type.Union([message, Type.Array(message)])
const refusal = Type.Object({
  jsonrpc,
  error: Type.Object(
    {
      code: Type.Integer({ description: 'The JSON-RPC error code, such as -32600 for an invalid request.' }),
      message: Type.String({ description: 'What is wrong, as text.' }),
    },
    { additionalProperties: true, description: 'Why the message was refused.' },
  ),
  id: Type.Union([Type.String(), Type.Number(), Type.Null()], {
    description: 'Id of the refused message. Null when it has none or could not be read.',
  }),
})

export const mcpRoute = route('POST /mcp', 'read', {
  summary:
    'JSON-RPC endpoint of the Model Context Protocol, for AI agents. Each tool needs the scope of its operation.',
  schemas: {},
  takesBytes: ['application/json'],
  inMemory: true,
  refuses: ['insufficient_scope', 'forbidden', 'not_found'],
  described: {
    ...Type.Union([message, Type.Array(message, { minItems: 1, maxItems: messageLimits.batch })]),
    description: `A message. Protocol versions before 2026-07-28 also allow a batch, in which each message counts as a request.`,
  },
  answers: {
    200: {
      ...messages,
      description: 'The response. For a batch, an array with a response for each request.',
    },
    202: { type: 'null', description: 'A notification or a response was accepted. No body.' },
    400: { ...Type.Union([refusal, errorAnswer]), description: '`bad_request`, as a JSON-RPC error' },
    404: { ...Type.Union([refusal, errorAnswer]), description: '`not_found`, or an unknown JSON-RPC method' },
    406: { ...refusal, description: 'The `Accept` header excludes application/json.' },
    415: { ...refusal, description: '`unsupported_media_type`, as a JSON-RPC error' },
  },
  bodyLimitBytes: messageLimits.bodyBytes,
  delegates: true,
  async handle(context, call) {
    const { request, principal } = call
    const { host, origin } = request.headers
    if (context.localOnly) requireLocal({ host, origin }, request.server.publicUrl())
    const read = readMessages(call.body as Uint8Array | null, request.headers)
    if (read.kind === 'refused') return read.answer
    const caller = { context, call: call as never, attempt: request.attempt }
    if (read.kind === 'batch') return answerBatch(caller, read.messages)
    const tool = calledTool(read.message)
    if (tool) requireRights(principal, tool.route)
    return asAnswer(await serveMessage(caller, read.message))
  },
})

const asAnswer = ({ status, contentType, text }: Served): Answer => ({
  status,
  body: text,
  ...(contentType === null ? {} : { headers: { 'content-type': contentType } }),
})

const refuseBatch = (why: string) => refuse(400, rpcCodes.invalidRequest, why)

/** Handles the messages in order, so that a later message sees the changes of earlier ones. */
async function answerBatch(caller: Caller, batch: unknown[]): Promise<Answer> {
  const { request } = caller.call
  if (request.attempt)
    return refuseBatch('Idempotency-Key is not accepted with a batch. Send a single message.')
  if (batch.some(namesVersion))
    return refuseBatch(
      'Invalid Request: this protocol version has no batches. Send each message in its own request.',
    )
  const answers: string[] = []
  for (const [at, message] of batch.entries()) {
    if (request.raw.socket.destroyed) break // the client has disconnected
    const text = await answerOne(caller, message, at > 0)
    if (text !== '') answers.push(text)
  }
  if (answers.length === 0) return { status: 202, body: '' }
  return {
    status: 200,
    body: `[${answers.join(',')}]`,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  }
}

async function answerOne(caller: Caller, message: unknown, counts: boolean): Promise<string> {
  const { call } = caller
  try {
    if (counts) await call.charge()
    if (isInitialize(message))
      return JSON.stringify(
        rpcError(
          rpcCodes.invalidRequest,
          'Invalid Request: initialize is not accepted in a batch. Send it alone.',
          idOf(message),
        ),
      )
    return (await serveMessage(caller, message)).text
  } catch (error) {
    const { code, message: why } = reportFailure(error, call.request)
    const rpcCode = error instanceof ServiceError ? rpcCodes.refused : rpcCodes.internalError
    return JSON.stringify(rpcError(rpcCode, why, idOf(message), { code }))
  }
}

/** Whether the message names its protocol version. Versions from 2026-07-28 on require that, and have no batches. */
function namesVersion(message: unknown): boolean {
  const { params } = (message ?? {}) as { params?: { _meta?: unknown } | null }
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null && PROTOCOL_VERSION_META_KEY in meta
}

const isInitialize = (message: unknown) => (message as { method?: unknown } | null)?.method === 'initialize'

function calledTool(message: unknown) {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === 'tools/call' ? findTool(params?.name) : undefined
}
