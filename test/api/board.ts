/** What tests of the API do to get started: boards and cards, made as a client makes them. */
import type { ApiAnswer } from '../support/http.ts'
import type { TestUser } from '../support/service.ts'

/** A board or a card as the API answers it. */
export type Shown = Record<string, any> & { id: string }

export async function makeBoard(user: TestUser, fields: Record<string, unknown> = {}): Promise<Shown> {
  const { board } = succeeded(await user.api.post('/boards', { name: 'Board', ...fields }))
  return board
}

export async function makeCards(
  user: TestUser,
  boardId: string,
  cards: Record<string, unknown>[],
): Promise<Shown[]> {
  const placed = cards.map((card, n) => ({ kind: 'note', x: n * 300, y: 0, ...card }))
  return succeeded(await user.api.post(`/boards/${boardId}/cards`, { cards: placed })).cards
}

export async function makeCard(
  user: TestUser,
  boardId: string,
  fields: Record<string, unknown> = {},
): Promise<Shown> {
  return (await makeCards(user, boardId, [fields]))[0]!
}

/** The whole of a listing, page by page. */
export async function listCards(user: TestUser, boardId: string, query = ''): Promise<Shown[]> {
  const cards: Shown[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: any = succeeded(
      await user.api.get(`/boards/${boardId}/cards?limit=500&offset=${offset}${query}`),
    )
    cards.push(...page.cards)
    offset = page.next_offset
  }
  return cards
}

export const cardsPath = (board: Shown) => `/boards/${board.id}/cards`

/** The cards of one board, as a client writes and lists them. */
export function cardsOn(user: TestUser, boardId: string) {
  const path = `/boards/${boardId}/cards`
  const create = (fields: Record<string, unknown>) =>
    user.api.post(path, { kind: 'note', x: 0, y: 0, ...fields })
  return {
    path,
    create,
    created: async (fields: Record<string, unknown>): Promise<Shown> => (await create(fields)).body.cards[0],
    patch: (id: string, fields: Record<string, unknown>) => user.api.patch(`${path}/${id}`, fields),
    shown: async (id: string) =>
      (await listCards(user, boardId, '&include=props,identifiers')).find((card) => card.id === id)!,
  }
}

export const findCard = async (user: TestUser, board: Shown, id: string, query = '') =>
  (await listCards(user, board.id, query)).find((card) => card.id === id)

/** The body of a 2xx. */
export function succeeded<Body>(answer: ApiAnswer<Body>): Body {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
  return answer.body
}

export const nowhere = '00000000-0000-4000-8000-000000000000'

/** The body of an error. */
export interface Problem {
  error: string
  code: string
}
