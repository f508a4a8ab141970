/** Presents what became of the cards of a write. */
import type { Outcome } from '../../collab/boards/conditions.ts'
import { ServiceError } from '../../core/errors.ts'
import { showWritten } from '../files/show-images.ts'
import { hasChanged } from '../http/if-match.ts'
import type { ApiContext } from '../http/route.ts'

export async function showOutcome(context: ApiContext, account: string, outcome: Outcome): Promise<Outcome> {
  const [cards, conflicts] = await Promise.all([
    showWritten(context, account, outcome.cards),
    showWritten(context, account, outcome.conflicts),
  ])
  return { ...outcome, cards, conflicts }
}

/**
 * Returns the card that a write of one card has written.
 *
 * @throws ServiceError `precondition_failed`, `not_found`
 */
export function requireWritten({ cards: [card], conflicts: [conflict] }: Outcome): Record<string, unknown> {
  if (conflict) throw hasChanged({ card: conflict })
  if (!card) throw new ServiceError('not_found', 'No such card on this board.')
  return card
}
