/** Requests about cards that were removed from a board. The history of the board has them. */
import { read, write } from './api.ts'

/** A change that removed cards. */
export interface Removal {
  /** The position of the board before it. */
  before: number
  at: string
  actors: { display_name: string | null }[]
  card_ids: string[]
  counts: { removed: number }
}

export interface RemovedCard {
  id: string
  /** Its title, or the beginning of its text. */
  name: string
}

interface Difference {
  id: string
  change: 'added' | 'removed' | 'changed'
  fields: { field: string; before: unknown }[]
}

/** The last changes that removed cards, the newest first. Moves to another board are left out. */
export async function readRemovals(boardId: string): Promise<Removal[]> {
  const { entries } = await read<{ entries: (Removal & { by: string })[] }>(
    `/boards/${boardId}/history?limit=500`,
  )
  return entries.filter(({ by, counts }) => counts.removed > 0 && by !== 'move').slice(0, 20)
}

/** The cards that a change removed and that are not on the board now. */
export async function readRemovedCards(
  boardId: string,
  { before, card_ids: ids }: Removal,
): Promise<RemovedCard[]> {
  const found: RemovedCard[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page: { cards: Difference[]; next_offset: number | null } = await read(
      `/boards/${boardId}/diff?from=${before}&limit=500&offset=${offset}`,
    )
    const gone = page.cards.filter(({ id, change }) => change === 'removed' && ids.includes(id))
    found.push(...gone.map(({ id, fields }) => ({ id, name: nameOf(fields) })))
    offset = page.next_offset
  }
  return found
}

function nameOf(fields: Difference['fields']): string {
  const value = (name: string) => fields.find(({ field }) => field === name)?.before
  const words = [value('title'), value('body'), value('url')].find(
    (one) => typeof one === 'string' && one !== '',
  )
  return typeof words === 'string' ? words.slice(0, 80) : `A ${String(value('kind'))} without words`
}

/** Brings cards back as they were before they were removed. */
export const bringBack = (boardId: string, { before }: Removal, cards: RemovedCard[]): Promise<unknown> =>
  write('POST', `/boards/${boardId}/restore-to`, {
    as_of: String(before),
    card_ids: cards.map(({ id }) => id),
  })
