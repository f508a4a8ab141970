/** Lists tools, and calls them: validates the arguments, runs the operation, formats its result or error. */
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import { badRequest, type ErrorCode } from '../../core/errors.ts'
import type { Scope } from '../../sql/accounts/tokens.ts'
import { showOn } from '../presence/presence.ts'
import { requireRights } from '../http/authenticate.ts'
import { schemaMessage, type SchemaError } from '../http/error-reply.ts'
import { firstUnknown } from '../http/unknown-names.ts'
import { compileSchema } from '../http/validate.ts'
import { callRoute, reportRefusal, type Caller } from './caller.ts'
import type { Tool } from './tool.ts'
import { tools } from './tools.ts'
import { markUntrusted } from './untrusted.ts'

/** The tools that the scopes allow. Their schemas are plain JSON Schema: ajv's keyword `nullable` is removed. */
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
    requireRights(caller.call.principal, tool.route)
    const input = validArguments(tool, given)
    const sent = tool.call(input)
    const answer = await callRoute(caller, tool.route, sent)
    void showAtWork(caller, tool, sent.params?.['id'], input)
    const { said, lines, content } = tool.show(answer as never, input)
    return { content: [{ type: 'text', text: markUntrusted(said, lines) }], structuredContent: content }
  } catch (error) {
    const { code, message, shows } = reportRefusal(caller, error)
    const next = nextStep[code]
    const said = `${code}: ${message}${next ? ` ${next}` : ''}`
    return {
      isError: true,
      content: [{ type: 'text', text: markUntrusted(said, shows ? [shows] : []) }],
    }
  }
}

const shownSeconds = 30
const shownCards = 25

/** Shows the agent on the board that it works on. A failure is no failure of its work. */
async function showAtWork({ context, call }: Caller, tool: Tool, boardId: string | undefined, input: object) {
  if (boardId === undefined || !tool.route.path.startsWith('/boards/:id')) return
  const { card_id: one, card_ids: many, cards } = input as Record<string, unknown>
  const ids = [one, many, (cards as { id?: unknown }[] | undefined)?.map(({ id }) => id)].flat()
  const cardIds = ids.filter((id) => typeof id === 'string').slice(0, shownCards)
  const state = { tool: tool.name, card_ids: cardIds }
  await showOn(context, call.principal, boardId.toLowerCase(), state, shownSeconds).catch(() => undefined)
}

const validators = new Map<Tool, ReturnType<typeof compileSchema>>()

/** @throws ServiceError `bad_request`: names the argument and its accepted values */
function validArguments(tool: Tool, given: unknown): never {
  const validate = validators.getOrInsertComputed(tool, ({ input }) => compileSchema(input, 'body'))
  const input: unknown = structuredClone(given ?? {})
  const nested = firstUnknown(input, tool.input, tool.route)
  if (nested?.path.includes('.'))
    throw badRequest(
      `${tool.name} has no argument ${nested.path}.${nested.near === null ? '' : ` Did you mean ${nested.near}?`}`,
    )
  if (validate(input)) return input as never
  const unknown = validate.errors!.find(({ keyword }) => keyword === 'additionalProperties')
  if (unknown)
    throw badRequest(
      `${tool.name} has no argument ${String(unknown.params['additionalProperty'])}. Its arguments are ${Object.keys(tool.input.properties).join(', ')}.`,
    )
  throw badRequest(schemaMessage(validate.errors as SchemaError[], 'arguments'))
}

/** What the agent can do about the error. */
const nextStep: Partial<Record<ErrorCode, string>> = {
  bad_request: 'Correct the arguments and call again.',
  not_found:
    'It may have been deleted, or you may not have access. Find ids with search, list_boards, read_board_tree and read_cards.',
  forbidden:
    'The account has no right to do this. Ask the user to grant it access, or work on a board with write access.',
  insufficient_scope: 'Ask the user for a token with this scope.',
  limit_reached:
    'A limit of the account is reached. Tell the user. Try again only after something was deleted.',
  conflict: 'Read the current state before you try again.',
  precondition_failed: 'Nothing was changed.',
  idempotency_in_progress: 'Wait a few seconds and call again.',
  rate_limited: 'Make no further calls until then.',
  payload_too_large: 'Send less in one call.',
  upstream_error: 'Try again later.',
  session_unavailable: 'Wait a few seconds. Check whether the change was made, then call again.',
  storage_unavailable: 'Wait a few seconds. Check whether the change was made, then call again.',
  internal_error: 'Check whether the change was made. If the error repeats, tell the user the request id.',
}
