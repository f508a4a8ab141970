import Type, { type Static } from 'typebox'
import { named, nullable, text } from '../http/vocabulary.ts'
import { cardFields } from '../../core/card.ts'
import { cardInput, identifiers, props } from '../http/schemas.ts'

const optional = (description: string, maxLength: number) =>
  Type.Optional(nullable(text(description, { maxLength })))
const { x, y, w, h } = cardInput

export const importItem = named('ImportItem', 'A URL to import as a card.', {
  url: text('An https URL on a public host. It becomes the `url` of the card.', {
    maxLength: cardFields.url.limit,
  }),
  title: optional(
    'Title of the card. Default: the title of the page, null for a file. The name of a file other than an image is in `file_name`.',
    cardFields.title.limit,
  ),
  caption: optional('Text of the card.', cardFields.body.limit),
  props: Type.Optional(nullable(props)),
  identifiers: Type.Optional(nullable(identifiers)),
  ...{ x, y, w, h },
})
export type ImportItem = Static<typeof importItem>
