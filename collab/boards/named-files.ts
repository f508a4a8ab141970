/** Files that a request's cards name: those that the cards may not name, and those that the board's workspace has to get. */
import { fileFields, type CardChange } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import type { SharedMap } from '../canvas/canvas.ts'
import { fileKeysOf } from './file-keys.ts'
import type { CardToCreate } from '../canvas/new-cards.ts'

/** The keys that a request names in the file fields of its cards, and that are not simply there. */
export interface NamedFiles {
  /** Files that the account can read and the board's workspace does not have. */
  away: ReadonlySet<string>
  /** Keys of no file, or of one that the account can't read: nobody is told which. */
  dead: ReadonlySet<string>
  /** How a message names the card at this place of the request, such as `cards[3].`; empty for a single one. */
  where(at: number): string
}

/**
 * A dead key stays where it is already: it named a file once.
 *
 * @param at the card's place in the request
 * @param shared the card that is changed; null for one that is created
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
      `${where(at)}${field}: there is no such file, or you can't read it. Upload it first (POST /uploads) or leave the field out.`,
    )
  }
}

/** Those that are named and away; of a card that comes back, all that it may name. */
export function* filesToTake(
  away: ReadonlySet<string> = new Set(),
  cards: (Pick<CardToCreate, 'change'> & { kept?: SharedMap | null })[],
): Steps<string[]> {
  const named = new Set<string>()
  for (const { change, kept } of cards) {
    for (const field of fileFields) if (change[field] && away.has(change[field])) named.add(change[field])
    if (!kept) continue
    for (const key of fileKeysOf(kept.toJSON())) named.add(key)
    yield
  }
  return [...named]
}
