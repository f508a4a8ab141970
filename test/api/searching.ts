/** Searches of accounts. */
import type { TestUser } from '../support/service.ts'
import { succeeded } from './board.ts'

export function searchesBy(user: TestUser) {
  const find = async (q: string, rest = '', who = user): Promise<any> =>
    succeeded(await who.api.get(`/search?q=${encodeURIComponent(q)}${rest}`))
  return {
    find,
    cardIds: async (q: string, rest = '', who = user) => ids((await find(q, rest, who)).cards),
    boardIds: async (q: string, rest = '', who = user) => ids((await find(q, rest, who)).boards),
  }
}

export const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id)
