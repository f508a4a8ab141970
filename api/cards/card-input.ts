/** A card as a client sends it → the fields that are written, bounded; or the reason why it can't be. */
import Type, { type Static } from 'typebox'
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
} from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { sanitizeHtml } from '../../core/html.ts'
import { distinctIdentifiers } from '../identifiers.ts'
import { cardFields } from '../schemas.ts'

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
  if (typeof change.html === 'string') {
    const clean = sanitizeHtml(change.html)
    if (Array.from(clean).length > textLimits.html) {
      throw new ServiceError(
        'bad_request',
        `${where}html must be at most ${textLimits.html} characters when it is written out safely.`,
      )
    }
    change.html = clean || null
  }
  return change
}
