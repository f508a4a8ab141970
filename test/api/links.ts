/** Guest links, and guests who come by them. */
import { ApiClient, type ApiAnswer } from '../support/http.ts'
import type { TestService, TestUser } from '../support/service.ts'
import { succeeded } from './board.ts'

export interface Guest {
  userId: string
  token: string
  api: ApiClient
}

export const makeLink = async (
  owner: TestUser,
  boardId: string,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; token: string }> => {
  const { link, token } = succeeded(
    await owner.api.post(`/boards/${boardId}/links`, { role: 'editor', ...fields }),
  )
  return { id: link.id, token }
}

export const open = (service: TestService, token: string, fields: Record<string, unknown> = {}) =>
  service.anonymous.post('/links/open', { token, name: 'Dora', ...fields }) as Promise<ApiAnswer<any>>

export async function guestOf(service: TestService, token: string, name = 'Dora'): Promise<Guest> {
  const { access_token, user_id } = succeeded(await open(service, token, { name }))
  return { userId: user_id, token: access_token, api: new ApiClient(() => service.url, access_token) }
}
