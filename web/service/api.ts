/** Requests to the API. */
import { accessToken, forgetToken } from './token.ts'

const root = '/api/v1'

/** A refusal, with the service's own words. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface TreeBoard {
  id: string
  parent_board_id: string | null
  name: string
  depth: number
}

export interface Workspace {
  id: string
  name: string
  boards: TreeBoard[]
}

/** @throws Refused, SignedOut */
async function request(
  path: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const send = async () =>
    fetch(root + path, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${await accessToken()}` },
    })
  let answer = await send()
  if (answer.status === 401) {
    forgetToken()
    answer = await send()
  }
  if (!answer.ok) {
    const { error } = (await answer.json().catch(() => ({}))) as { error?: string }
    throw new Refused(answer.status, error ?? `The service answered ${answer.status}.`)
  }
  return answer
}

const read = async <T>(path: string): Promise<T> => (await (await request(path)).json()) as T

/** All workspaces that the account sees, each with the tree of its boards, parents before children. */
export async function readBoards(): Promise<Workspace[]> {
  const { workspaces } = await read<{ workspaces: Omit<Workspace, 'boards'>[] }>('/workspaces')
  return Promise.all(
    workspaces.map(async (workspace) => {
      const { boards } = await read<{ boards: TreeBoard[] }>(
        `/boards/tree?workspace=${workspace.id}&depth=10`,
      )
      return { ...workspace, boards: inOrder(boards) }
    }),
  )
}

/** Each board with those below it. The service answers level by level. */
function inOrder(boards: TreeBoard[]): TreeBoard[] {
  const below = (parent: string | null): TreeBoard[] =>
    boards.filter((board) => board.parent_board_id === parent).flatMap((board) => [board, ...below(board.id)])
  return below(null)
}

export async function readBoardName(id: string): Promise<string> {
  const { board } = await read<{ board: { name: string } }>(`/boards/${id}`)
  return board.name
}

/** @returns the id of the new board */
export async function createBoard(workspaceId: string, name: string): Promise<string> {
  const answer = await request('/boards', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workspace_id: workspaceId, name }),
  })
  const { board } = (await answer.json()) as { board: { id: string } }
  return board.id
}

const widths = [160, 320, 640, 960, 1280, 1920]

/** @param width in pixels of the screen; null: the file itself. @returns a URL for `img` and links, until the page ends */
export function fileUrl(key: string, width: number | null): Promise<string> {
  const fitting = width === null ? null : (widths.find((one) => one >= width) ?? widths.at(-1)!)
  const path = `/images/${encodeURIComponent(key)}${fitting === null ? '' : `?w=${fitting}`}`
  const known = files.get(path)
  if (known) return known
  const url = request(path).then(async (answer) => URL.createObjectURL(await answer.blob()))
  files.set(path, url)
  url.catch(() => files.delete(path))
  return url
}

const files = new Map<string, Promise<string>>()
