/** Cards by the API, where the editor's socket can not do it. */
import { request } from './api.ts'

async function postJson<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return (await (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T
}

/** @returns the ids of the new cards. @throws Refused */
export async function createCards(boardId: string, cards: object[]): Promise<string[]> {
  const answer = await postJson<{ cards: { id: string }[] }>(`/boards/${boardId}/cards`, { cards })
  return answer.cards.map(({ id }) => id)
}

export type Layout = 'justified' | 'masonry' | 'grid' | 'row' | 'column'

export interface Place {
  id: string
  x: number
  y: number
  w: number
  h: number
}

/** Where a layout puts cards. Nothing is written. @param ids null: all cards. @throws Refused */
export async function previewLayout(
  boardId: string,
  { layout, ids, gap }: { layout: Layout; ids: string[] | null; gap: number },
): Promise<Place[]> {
  const body = { layout, gap, dry_run: true, ...(ids ? { card_ids: ids } : {}) }
  return (await postJson<{ cards: Place[] }>(`/boards/${boardId}/arrange`, body)).cards
}
