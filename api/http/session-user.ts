/** The user of a session, in history and audit. Other actors have no such field. */
import Type from 'typebox'
import { nullable, object, text } from './vocabulary.ts'

export const sessionUser = Type.Optional(
  object('Only for a session that was minted for a user of another product: that user.', {
    id: text('The id that the product has for the user.'),
    name: nullable(text('Name of the user.')),
  }),
)

/** @param id null for other accounts */
export const presentSessionUser = (id: string | null, name: string | null) =>
  id === null ? {} : { session_user: { id, name } }
