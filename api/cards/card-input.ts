/** A card as a client sends it → the fields that are written, bounded; or the reason why it can't be. */
import Type, { type Static } from 'typebox'
import { requireWritable } from '../../collab/access.ts'
import {
  boundNumber,
  isKind,
  isLinkUrl,
  numberFields,
  propsFault,
  textFields,
  textLimits,
  unknownKind,
  type CardChange,
  type Props,
  distinctIdentifiers,
} from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { htmlFault } from '../../core/html.ts'
import { requireRoom } from '../boards/capacity.ts'
import type { ApiContext } from '../http/route.ts'
import { cardFields } from '../http/schemas.ts'

const cardBody = Type.Object(cardFields)
export type CardInput = Static<typeof cardBody>

/** @param where how the card is named in messages, such as `cards[3].`; empty for a single one */
export function cardChange(input: CardInput, where: string, options: { anyKind?: boolean } = {}): CardChange {
  const change: CardChange = {}
  if (input.kind !== undefined) {
    if (!options.anyKind && !isKind(input.kind)) throw unknownKind(where)
    change.kind = input.kind
  }
  for (const field of textFields) {
    const value = input[field]
    if (value === undefined) continue
    change[field] = value || null
  }
  if (input.body !== undefined) change.body = input.body || null
  for (const field of numberFields) {
    const value = input[field]
    if (value === undefined) continue
    if (value !== null) change[field] = boundNumber[field](value)
    else if (field === 'size_bytes') change.size_bytes = null
  }
  if (input.section_header !== undefined) change.section_header = input.section_header
  if (input.props !== undefined) {
    const fault = input.props === null ? null : propsFault(input.props)
    if (fault) throw new ServiceError('bad_request', `${where}props: ${fault}.`)
    change.props = input.props as Props | null
  }
  if (input.identifiers !== undefined) change.identifiers = distinctIdentifiers(input.identifiers ?? [])
  if (typeof change.url === 'string' && !isLinkUrl(change.url)) {
    throw new ServiceError('bad_request', `${where}url must be an http, https or mailto URL.`)
  }
  const fault = typeof change.html === 'string' ? htmlFault(change.html) : null
  if (fault) throw new ServiceError('bad_request', `${where}html ${fault}.`)
  return change
}

/**
 * Replaces the `html` of changes that `cardChange` returned by its sanitised form. When that is much work, the request
 * must first be one that the board takes.
 *
 * @param adds cards that the request is sure to create
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
    if (clean.length > textLimits.html && Array.from(clean).length > textLimits.html)
      throw new ServiceError(
        'bad_request',
        `${where(at)}html must be at most ${textLimits.html} characters when it is written out safely.`,
      )
    change.html = clean || null
  }
}
