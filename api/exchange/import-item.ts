import Type, { type Static } from 'typebox'
import { bodyLimit, textLimits } from '../../core/card.ts'
import { cardFields, identifiers, nullable, props } from '../schemas.ts'

const text = (limit: number) => Type.Optional(nullable(Type.String({ maxLength: limit })))
const { x, y, w, h } = cardFields

export const importItem = Type.Object({
  url: Type.String({
    maxLength: textLimits.url,
    description: 'An https URL on a public host. It stays in the card as `url`.',
  }),
  title: text(textLimits.title),
  caption: text(bodyLimit),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(nullable(identifiers)),
  x,
  y,
  w,
  h,
})
export type ImportItem = Static<typeof importItem>
