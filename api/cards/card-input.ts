/** Converts a card that a client sends to the fields that are written, bounded; or refuses it. */
import { requireWritable } from '../../collab/access.ts'
import {
  cardFields,
  fieldEntries,
  isKind,
  unknownKind,
  type CardChange,
  type CardInput,
} from '../../core/card.ts'
import { badRequest } from '../../core/errors.ts'
import { htmlFault } from '../../core/html.ts'
import { requireRoom } from '../boards/capacity.ts'
import type { ApiContext } from '../http/route.ts'

/** @param where how messages name the card, such as `cards[3].`; empty for a single card */
export function cardChange(input: CardInput, where: string, options: { anyKind?: boolean } = {}): CardChange {
  if (input.kind !== undefined && !options.anyKind && !isKind(input.kind)) throw unknownKind(where)
  const markupFault = input.html ? htmlFault(input.html) : null
  if (markupFault) throw badRequest(`${where}html ${markupFault}.`)
  const change: Record<string, unknown> = {}
  for (const [name, field] of fieldEntries) {
    const given = input[name] as never
    if (given === undefined) continue
    const fault = field.fault?.(given)
    if (fault) throw badRequest(`${where}${name}${fault}.`)
    change[name] = field.accept(given)
  }
  return change
}

/**
 * Sanitises the `html` of changes that `cardChange` returned. Before expensive work it checks that the account may
 * write to the board, and that the owner's card limit allows the cards.
 *
 * @param adds the number of cards that the request will certainly create
 * @throws ServiceError
 */
export async function sanitizeChanges(
  { database, live, freeCardCap }: ApiContext,
  { account, boardId, adds }: { account: string; boardId: string; adds: number },
  changes: CardChange[],
  where: (at: number) => string,
): Promise<void> {
  const texts = changes.flatMap(({ html }) => html ?? [])
  if (texts.length === 0) return
  if (live.html.isMuch(texts)) {
    await requireWritable(database, account, boardId)
    if (adds > 0) await requireRoom(database, freeCardCap, { account, boardId, adds })
  }
  const safe = (await live.html.sanitize(account, texts)).values()
  for (const [at, change] of changes.entries()) {
    if (typeof change.html !== 'string') continue
    const clean = safe.next().value!
    if (clean.length > cardFields.html.limit && Array.from(clean).length > cardFields.html.limit)
      throw badRequest(
        `${where(at)}html must be at most ${cardFields.html.limit} characters after it is sanitised.`,
      )
    change.html = clean || null
  }
}
