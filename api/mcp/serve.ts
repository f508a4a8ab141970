/**
 * Answers one JSON-RPC message. The endpoint is stateless: each message gets its own server, in all protocol versions.
 * Versions before 2026-07-28 start with `initialize`; it is answered, but opens no session.
 */
import type { IncomingHttpHeaders } from 'node:http'
import {
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  isLegacyRequest,
} from '@modelcontextprotocol/server'
import type { Caller } from './caller.ts'
import { serverFor } from './server.ts'

export interface Served {
  status: number
  contentType: string | null
  /** Empty for a notification. */
  text: string
}

export async function serveMessage(caller: Caller, message: unknown): Promise<Served> {
  const request = asWebRequest(caller.call.request.headers)
  const response = (await isLegacyRequest(request, message))
    ? await serveLegacy(caller, request, message)
    : await serveModern(caller, request, message)
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    text: await response.text(),
  }
}

function serveModern(caller: Caller, request: Request, message: unknown): Promise<Response> {
  const { log } = caller.call.request
  const handler = createMcpHandler(() => serverFor(caller), {
    legacy: 'reject',
    keepAliveMs: 0,
    onerror: (error) => log.debug({ err: error }, 'MCP message refused'),
  })
  return handler.fetch(request, { parsedBody: message })
}

async function serveLegacy(caller: Caller, request: Request, message: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, keepAliveMs: 0 })
  const server = serverFor(caller)
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

/** A request with the headers that the SDK reads. The body was parsed before, and is passed on its own. */
function asWebRequest(headers: IncomingHttpHeaders): Request {
  const own = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  })
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith('mcp-') && typeof value === 'string') own.set(name, value)
  }
  return new Request('http://service.invalid/mcp', { method: 'POST', headers: own })
}
