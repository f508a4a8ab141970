/** The audit as the API answers it. */
import type { TestUser } from '../support/service.ts'
import { succeeded } from './board.ts'

export interface Entry {
  id: string
  occurred_at: string
  action: string
  actor: Record<string, string | null>
  method: string
  path: string
  status: number
  workspace_id: string | null
  board_id: string | null
  resource: { type: string | null; id: string | null }
  request_id: string
  ip: string
}

export const newest = async (user: TestUser, count: number): Promise<Entry[]> =>
  succeeded(await user.api.get<any>(`/audit?limit=${count}`)).entries

/** The entries of the request that got this answer. */
export async function entryOf(user: TestUser, answer: { headers: Headers }): Promise<Entry[]> {
  const id = answer.headers.get('x-request-id')
  return (await newest(user, 500)).filter(({ request_id }) => request_id === id)
}
