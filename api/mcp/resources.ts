/** Boards as MCP resources: `board://{id}` is Markdown, `board://{id}/json` is JSON. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ListResourcesResult,
  type ReadResourceResult,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { listBoards } from '../boards/list.ts'
import { readBoardById } from '../boards/read.ts'
import { listCards } from '../cards/list.ts'
import { listGroups } from '../groups/groups.ts'
import { uuidPattern } from '../http/schemas.ts'
import { boardMarkdown } from './board-markdown.ts'
import { callRoute, reportRefusal, type Caller } from './caller.ts'
import { fitting } from './fit.ts'
import { showBoard, showCard, type Board, type Card, type Group } from './tools/shown.ts'
import { notice } from './untrusted.ts'

export const resourceTemplates: ResourceTemplateType[] = [
  {
    uriTemplate: 'board://{id}',
    name: 'board',
    title: 'Board as Markdown',
    description: 'A board with its groups and its first cards, as Markdown.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'board://{id}/json',
    name: 'board-json',
    title: 'Board as JSON',
    description: 'A board with its groups and its first cards, as JSON.',
    mimeType: 'application/json',
  },
]

const listSize = 50
/** Of one resource: cards and groups to read, and characters of JSON for the cards to show. */
const bounds = { cards: 200, chars: 60_000, groups: 100 }

export async function listResources(
  caller: Caller,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const offset = cursor === undefined ? 0 : Number(/^offset:(\d{1,12})$/.exec(cursor)?.[1] ?? NaN)
  if (Number.isNaN(offset))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'cursor must be the nextCursor of an earlier page.',
    )
  const { boards, next_offset } = await asked(
    caller,
    callRoute<{ boards: Board[]; next_offset: number | null }>(caller, listBoards, {
      query: { limit: listSize, offset },
    }),
  )
  return {
    resources: boards.map(({ id, name, updated_at }) => ({
      uri: `board://${id}`,
      name: `board ${id}`,
      title: name,
      mimeType: 'text/markdown',
      ...(updated_at === null ? {} : { annotations: { lastModified: updated_at } }),
    })),
    ...(next_offset === null ? {} : { nextCursor: `offset:${next_offset}` }),
  }
}

export async function readResource(caller: Caller, uri: string): Promise<ReadResourceResult> {
  const [, id, json] = /^board:\/\/([^/?#]*)(\/json)?$/.exec(uri) ?? []
  if (id === undefined || !uuidPattern.test(id)) throw new ResourceNotFoundError(uri)
  const params = { id }
  const [{ board }, { groups }, { cards, total }] = await asked(
    caller,
    Promise.all([
      callRoute<{ board: Board }>(caller, readBoardById, { params }),
      callRoute<{ groups: Group[] }>(caller, listGroups, { params, query: { limit: bounds.groups } }),
      callRoute<{ cards: Card[]; total: number }>(caller, listCards, {
        params,
        query: { limit: bounds.cards },
      }),
    ]),
    uri,
  )
  const shown = fitting(cards.map(showCard), bounds.chars)
  const page = { board, groups, cards: cards.slice(0, shown.length), total }
  const text = json
    ? JSON.stringify({
        notice,
        board: showBoard(board),
        groups,
        cards: shown,
        total,
        next_offset: shown.length < total ? shown.length : null,
      })
    : boardMarkdown(page)
  return { contents: [{ uri, mimeType: json ? 'application/json' : 'text/markdown', text }] }
}

/** Turns an error of an operation into a JSON-RPC error with the same message and code. */
async function asked<Result>(caller: Caller, work: Promise<Result>, uri?: string): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const { code, message } = reportRefusal(caller, error)
    if (uri !== undefined && code === 'not_found') throw new ResourceNotFoundError(uri)
    const rpcCode = code === 'bad_request' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
    throw new ProtocolError(rpcCode, message, { code })
  }
}
