/** The MCP SDK's client over HTTP, with a token. Also sends raw messages that no client would send. */
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { holdAgainstDescription } from './description.ts'

export interface Agent {
  client: Client
  /** Calls a tool that must succeed. */
  does<Content = any>(tool: string, args?: Record<string, unknown>): Promise<Content>
  /** Calls a tool that must fail, and returns the text for the model. */
  fails(tool: string, args?: Record<string, unknown>): Promise<string>
  /** Text for the model. */
  reads(tool: string, args?: Record<string, unknown>): Promise<string>
}

export const modern = '2026-07-28'

export async function openAgent(
  serviceUrl: string,
  token: string,
  mode: VersionNegotiationMode = 'auto',
): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${serviceUrl}/api/v1/mcp`), { requestInit: { headers } }),
  )
  onTestFinished(() => client.close())
  // The client reads the output schemas here, and checks later answers with them.
  await client.listTools()
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args })
    const [first] = result.content
    const text = first?.type === 'text' ? first.text : ''
    return { text, isError: result.isError === true, content: result.structuredContent }
  }
  return {
    client,
    async does(tool, args) {
      const { text, isError, content } = await call(tool, args)
      if (isError) throw new Error(`${tool}: ${text}`)
      return content as never
    },
    async fails(tool, args) {
      const { text, isError } = await call(tool, args)
      if (!isError) throw new Error(`${tool} did not fail: ${text}`)
      return text
    },
    async reads(tool, args) {
      return (await call(tool, args)).text
    },
  }
}

export interface RpcAnswer {
  status: number
  headers: Headers
  text: string
  /** The parsed body, if there is one. */
  body: any
}

/** Sends a string unchanged, and any other body as JSON. */
export async function postMcp(
  serviceUrl: string,
  token: string | null,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const response = await fetch(`${serviceUrl}/api/v1/mcp`, {
    method: 'POST',
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') && text !== ''
  const answer = { status: response.status, text, body: json ? JSON.parse(text) : null }
  if (json || text === '') await holdAgainstDescription(serviceUrl, 'POST', '/mcp', answer)
  return { ...answer, headers: response.headers }
}

let ids = 0
export const request = (method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id: (ids += 1),
  method,
  params,
})

export const toolCall = (name: string, args: Record<string, unknown> = {}) =>
  request('tools/call', { name, arguments: args })
