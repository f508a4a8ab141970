/** Requests to the API. */
import { backoffMs, wait } from '../../client/wait.ts'
import { accessToken, forgetToken, SignedOut } from './token.ts'
import { inWords } from './unreachable.ts'

const root = '/api/v1'

/** A refusal, with the service's own words. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A workspace of the account. */
export interface Workspace {
  id: string
  name: string
  role: 'owner' | 'editor' | 'viewer'
}

/** @throws Refused, SignedOut, Unreachable */
export async function request(
  path: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<Response> {
  const send = async () =>
    fetch(root + path, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${await accessToken()}` },
    }).catch(inWords)
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

export const read = async <T>(path: string): Promise<T> => (await (await request(path)).json()) as T

export const readWorkspaces = async (): Promise<Workspace[]> =>
  (await read<{ workspaces: Workspace[] }>('/workspaces?limit=500')).workspaces

/**
 * The id of the account that is signed in. Asks again while the service does not answer, also for the token, which the
 * client library asks for once. @throws Refused, SignedOut
 */
export async function readAccountId(): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { user_id } = await read<{ user_id: string }>('/me')
      return user_id
    } catch (error) {
      if (error instanceof SignedOut || (error instanceof Refused && error.status < 500)) throw error
      await wait(backoffMs(attempt))
    }
  }
}

/** @returns the body of the answer */
export async function write<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await (await request(path, { method, ...(body && json) })).json()) as T
}

/** @returns the id of a board's workspace. Null when the account does not own it */
export async function readOwnWorkspace(boardId: string): Promise<string | null> {
  const [{ board }, workspaces] = await Promise.all([
    read<{ board: { workspace_id: string } }>(`/boards/${boardId}`),
    readWorkspaces(),
  ])
  const own = workspaces.find(({ id, role }) => id === board.workspace_id && role === 'owner')
  return own?.id ?? null
}

/** The bytes of a file, to save them on this device. */
export async function readFile(key: string): Promise<Blob> {
  return (await request(`/images/${encodeURIComponent(key)}`)).blob()
}
