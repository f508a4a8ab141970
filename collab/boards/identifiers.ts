/**
 * An identifier that the API writes must be unique on its board. The commit checks this in the index, under the board's
 * lock, so no document has to be loaded. Editors' changes are written to the index first.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { identifierKey, type Identifier } from '../../core/card-values.ts'
import { badRequest } from '../../core/errors.ts'
import type { BuiltWrite } from '../commit/write-request.ts'
import type { LiveBoards } from './live.ts'
import { catchUp } from './read.ts'

/** A card's identifiers after a write. */
export interface Carrier {
  id: string
  identifiers: Identifier[]
  /**
   * The card's identifiers before the write. It may keep them even when an editor has pasted another card with the same
   * ones.
   */
  before?: Identifier[]
}

/**
 * Returns the identifiers that the commit must find free.
 *
 * @throws ServiceError `bad_request` when two of the cards are given the same identifier
 */
export function claimsOf(carriers: Carrier[]): NonNullable<BuiltWrite['claims']> | null {
  const gained = new Map<string, Identifier>()
  const carried = new Map<string, string>()
  for (const { id, identifiers, before = [] } of carriers) {
    const kept = new Set(before.map(identifierKey))
    for (const identifier of identifiers) {
      const key = identifierKey(identifier)
      if (!kept.has(key)) gained.set(key, identifier)
      const other = carried.get(key)
      if (other !== undefined && other !== id && gained.has(key)) throw givenTwice(identifier)
      carried.set(key, id)
    }
  }
  if (gained.size === 0) return null
  return { identifiers: [...gained.values()], cards: carriers.map(({ id }) => id) }
}

export const givenTwice = (identifier: Identifier) =>
  badRequest(
    `identifiers: ${JSON.stringify(identifier)} is sent for two cards. An identifier may be on only one card of a board.`,
  )

/** How long a write waits for editors' changes to be indexed. A flush has no deadline of its own. */
const flushTimeoutMs = 2000

/** Writes editors' changes to the index, for a board that is in memory. */
export async function indexEdits(live: LiveBoards, boardId: string): Promise<void> {
  const board = await catchUp(live, boardId)
  if (!board?.outstanding) return
  const late = new AbortController()
  await Promise.race([
    live.queue.flush(boardId),
    delay(flushTimeoutMs, undefined, { signal: late.signal }).catch(() => undefined),
  ])
  late.abort()
}

/** The live cards with each of these identifiers, according to the index; by `identifierKey`. */
export async function carriersOf(
  live: LiveBoards,
  boardId: string,
  identifiers: Identifier[],
): Promise<Map<string, string[]>> {
  const rows = await live.database.asSystem(
    (tx) => tx<{ scope: string; value: string; cards: string[] }[]>`
      select v.scope, v.value, c.cards
      from unnest(${identifiers.map(({ scope }) => scope)}::text[], ${identifiers.map(({ value }) => value)}::text[]) as v(scope, value)
      cross join lateral (
        select array_agg(x.card_id order by x.card_id) as cards
        from card_identifiers x
        where x.board_id = ${boardId} and x.scope = v.scope and x.value = v.value
      ) c
      where c.cards is not null`,
  )
  return new Map(rows.map((row) => [identifierKey(row), row.cards]))
}
