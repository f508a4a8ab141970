/** Checks the files that a request's cards refer to, and finds those that the board's workspace has to get. */
import { fileFields, type CardChange } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { SharedMap } from '../canvas/canvas.ts'
import { fileKeysOf } from './file-keys.ts'
import type { CardToCreate } from '../canvas/new-cards.ts'

/** The keys in the file fields of a request's cards that are not in the board's workspace. */
export interface NamedFiles {
  /** Files that the account can read but that the board's workspace does not have. */
  away: ReadonlySet<string>
  /** Keys of files that do not exist, or that the account can't read. The client does not learn which. */
  dead: ReadonlySet<string>
  /** How a message names the card at an index of the request, such as `cards[3].`; empty for a single card. */
  where(at: number): string
}

/**
 * Checks a card's file fields. A dead key that is already stored may stay: its file existed once.
 *
 * @param at the card's index in the request
 * @param shared the card that is changed; null for a new one
 * @throws ServiceError `not_found` that names the field
 */
export function requireAlive(
  { dead, where }: NamedFiles,
  at: number,
  change: CardChange,
  shared: SharedMap | null,
): void {
  for (const field of fileFields) {
    const key = change[field]
    if (!key || !dead.has(key) || shared?.get(field) === key) continue
    throw new ServiceError(
      'not_found',
      `${where(at)}${field}: this file does not exist, or you can't read it. Upload it first (POST /uploads) or leave the field out.`,
    )
  }
}

/** The files that the workspace has to get: those in `away` that cards refer to, and all files in a restored card. */
export function* filesToTake(
  away: ReadonlySet<string> = new Set(),
  cards: (Pick<CardToCreate, 'change'> & { kept?: SharedMap | null })[],
): Steps<string[]> {
  const named = new Set<string>()
  for (const { change, kept } of cards) {
    for (const field of fileFields) if (change[field] && away.has(change[field])) named.add(change[field])
    if (!kept) continue
    for (const key of yield* fileKeysOf(kept)) named.add(key)
    yield
  }
  return [...named]
}
