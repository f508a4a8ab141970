/** A call of a tool, from its arguments to what the model is shown; also when it fails. */
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { ServiceError, type ErrorCode } from '../../core/errors.ts'
import type { Scope } from '../../sql/accounts/tokens.ts'
import { requireScope } from '../http/authenticate.ts'
import { reportFailure, schemaMessage, type SchemaError } from '../http/error-reply.ts'
import { compileSchema } from '../http/validate.ts'
import { callRoute, type Caller } from './caller.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools.ts'
import { markUntrusted } from './untrusted.ts'

/** The tools that the scopes allow, with their schemas as JSON Schema: `nullable` is a word of ajv. */
export const listTools = (scopes: readonly Scope[]): ListedTool[] =>
  tools.filter(({ route }) => scopes.includes(route.scope)).map(describeTool)

function describeTool(tool: Tool): ListedTool {
  const { name, title, description, input, output, route } = tool
  const readOnly = route.method === 'GET'
  return {
    name,
    title,
    description,
    inputSchema: withoutNullable(input) as ListedTool['inputSchema'],
    ...(output ? { outputSchema: output as unknown as NonNullable<ListedTool['outputSchema']> } : {}),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: tool.destructive ?? false,
      idempotentHint: readOnly || (tool.idempotent ?? false),
      openWorldHint: tool.openWorld ?? false,
    },
  }
}

const withoutNullable = (schema: object): unknown =>
  JSON.parse(JSON.stringify(schema, (name, value: unknown) => (name === 'nullable' ? undefined : value)))

export async function callTool(caller: Caller, tool: Tool, given: unknown): Promise<CallToolResult> {
  try {
    requireScope(caller.call.principal, tool.route.scope)
    const input = validArguments(tool, given)
    const answer = await callRoute(caller, tool.route, tool.call(input))
    const { said, lines, content } = tool.show(answer as never, input)
    return { content: [{ type: 'text', text: markUntrusted(said, lines) }], structuredContent: content }
  } catch (error) {
    const { code, message } = reportFailure(error, caller.call.request)
    const next = nextStep[code]
    return {
      isError: true,
      content: [{ type: 'text', text: `${code}: ${message}${next ? ` ${next}` : ''}` }],
    }
  }
}

const validators = new Map<Tool, ReturnType<typeof compileSchema>>()

/** @throws ServiceError `bad_request` that names the argument and what it takes */
function validArguments(tool: Tool, given: unknown): never {
  let validate = validators.get(tool)
  if (!validate) validators.set(tool, (validate = compileSchema(tool.input, 'body')))
  const input: unknown = structuredClone(given ?? {})
  if (validate(input)) return input as never
  const unknown = validate.errors!.find(({ keyword }) => keyword === 'additionalProperties')
  if (unknown)
    throw new ServiceError(
      'bad_request',
      `${String(unknown.params['additionalProperty'])} is no argument of ${tool.name}, which takes ${Object.keys(tool.input.properties).join(', ')}.`,
    )
  throw new ServiceError('bad_request', schemaMessage(validate.errors as SchemaError[], 'arguments'))
}

/** What an agent does about it. */
const nextStep: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Correct the arguments and call again.',
  not_found:
    'It may have been deleted, or is not yours to see. Ids come from search, list_boards, read_board_tree and read_cards.',
  forbidden:
    'The account may not do this here. Ask the person to give it access, or work on a board that it may write.',
  insufficient_scope: 'Ask the person for a token that has it.',
  limit_reached: 'The plan is full. Tell the person; do not try again before something was deleted.',
  conflict: 'Read the present state, then decide.',
  idempotency_in_progress: 'Wait a few seconds and call again.',
  rate_limited: 'Stop, and go on when that time is over.',
  payload_too_large: 'Send less at once.',
  upstream_error: 'Try again later.',
  session_unavailable: 'Wait a few seconds. Read first, whether it was done; then call again.',
  storage_unavailable: 'Wait a few seconds. Read first, whether it was done; then call again.',
  internal_error: 'Read first, whether it was done. If it happens again, tell the person the request id.',
}
