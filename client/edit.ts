/** Changes that are made only to what was read. */
import { isFailure } from './errors.ts'
import type { Board, Card, CardPatch, Input } from './operations.ts'
import type { RequestOperation } from './request.ts'
import type { SendOptions } from './transport.ts'
import { backoffMs, wait } from './wait.ts'

export interface EditOptions extends SendOptions {
  /**
   * Merges a changed `body` into what others have typed meanwhile, instead of calling `change` again. The other fields
   * that `change` returns then replace theirs.
   */
  mergeBody?: boolean
}

/** Returns the fields to set. Null changes nothing. */
export type Change<T, Patch> = (object: T) => Patch | null | Promise<Patch | null>

/** So many times somebody else may be quicker. */
const attempts = 20

export async function editCard(
  request: RequestOperation,
  { board, card }: { board: string; card: string },
  change: Change<Card, CardPatch>,
  { mergeBody = false, ...sending }: EditOptions = {},
): Promise<Card> {
  const path = { id: board, cardId: card }
  const read = await request('GET /boards/{id}/cards/{cardId}', { ...sending, path })
  return edit(read.card, change, 'card', sending, async (body, headers, from) => {
    const merged = mergeBody && typeof body.body === 'string'
    const answer = await request('PATCH /boards/{id}/cards/{cardId}', {
      ...sending,
      path,
      headers: merged ? { ...sending.headers } : headers,
      body: merged ? { ...body, body_base: from.body ?? '' } : body,
    })
    return answer.card
  })
}

export type BoardPatch = Input<'PATCH /boards/{id}'>['body']

export async function editBoard(
  request: RequestOperation,
  id: string,
  change: Change<Board, BoardPatch>,
  sending: SendOptions = {},
): Promise<Board> {
  const read = await request('GET /boards/{id}', { ...sending, path: { id } })
  return edit(read.board, change, 'board', sending, async (body, headers) => {
    const answer = await request('PATCH /boards/{id}', { ...sending, path: { id }, headers, body })
    return answer.board
  })
}

/** @param shown the field in which a 412 shows the object as it is now */
async function edit<T extends { version: string }, Patch extends object>(
  read: T,
  change: Change<T, Patch>,
  shown: string,
  { headers, signal }: SendOptions,
  write: (patch: Patch, headers: Record<string, string>, from: T) => Promise<T>,
): Promise<T> {
  let now = read
  for (let attempt = 1; ; attempt++) {
    const patch = await change(now)
    if (patch === null || Object.keys(patch).length === 0) return now
    try {
      return await write(patch, { ...headers, 'if-match': `"${now.version}"` }, now)
    } catch (error) {
      if (!isFailure(error, 'precondition_failed')) throw error
      now = error.body[shown] as T
      // An answer that got lost: this write was made, and then refused when it was sent again.
      if (has(now, patch)) return now
      if (attempt === attempts) throw error
      await wait(backoffMs(1), signal)
    }
  }
}

const has = (object: object, patch: object) =>
  Object.entries(patch).every(
    ([field, value]) =>
      JSON.stringify((object as Record<string, unknown>)[field] ?? null) === JSON.stringify(value ?? null),
  )
