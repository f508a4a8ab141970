import Type, { type Static } from 'typebox'
import { cardFields } from '../../core/card.ts'
import { named } from '../http/named.ts'
import { cardInput, identifiers, nullable, props } from '../http/schemas.ts'

const text = (limit: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: limit, description })))
const { x, y, w, h } = cardInput

export const importItem = named(
  'ImportItem',
  Type.Object({
    url: Type.String({
      maxLength: cardFields.url.limit,
      description: 'An https URL on a public host. It becomes the `url` of the card.',
    }),
    title: text(
      cardFields.title.limit,
      'Title of the card. Default: the title of the page, or the name of the file.',
    ),
    caption: text(cardFields.body.limit, 'Text of the card.'),
    props: Type.Optional(nullable(props)),
    identifiers: Type.Optional(nullable(identifiers)),
    x,
    y,
    w,
    h,
  }),
  'A URL to import as a card.',
)
export type ImportItem = Static<typeof importItem>
