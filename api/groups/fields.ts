/** The fields of a group that a write may carry. */
import Type, { type Static } from 'typebox'
import { flag, nullable, oneOf, text } from '../http/vocabulary.ts'
import { cardFields } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { groupShapes, type GroupChange } from '../../core/group.ts'
import { limits } from '../../core/limits.ts'

export const name = text(
  `Name of the group, 1 to ${limits.name} characters. Spaces at both ends are removed.`,
)
export const groupFields = {
  name: Type.Optional(name),
  color: Type.Optional(
    nullable(text('Color of the group. Null: the default.', { maxLength: cardFields.color.limit })),
  ),
  shape: Type.Optional(
    oneOf(
      groupShapes,
      '`box` draws a rectangle around the cards, `hug` follows their outline. Default on create: `box`.',
    ),
  ),
  outline: Type.Optional(flag('Whether the outline is drawn. Default on create: true.')),
}
const body = Type.Object(groupFields)

/** @throws ServiceError `bad_request` */
export function groupChange({ name, color, shape, outline }: Static<typeof body>): GroupChange {
  return {
    ...(name === undefined ? {} : { name: trimmedName(name) }),
    ...(color === undefined ? {} : { color: color || null }),
    ...(shape === undefined ? {} : { shape }),
    ...(outline === undefined ? {} : { outline }),
  }
}

function trimmedName(given: string): string {
  const name = given.trim()
  if (name === '') throw new ServiceError('bad_request', 'name must not be empty.')
  if (Array.from(name).length > limits.name)
    throw new ServiceError('bad_request', `name must be at most ${limits.name} characters.`)
  return name
}
