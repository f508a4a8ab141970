/** What the operations that go back on a board have in common: `restore-to` and `undo`. */
import Type from 'typebox'
import { keptReasons } from '../../collab/history/undo.ts'
import { flag, id, list, object, oneOf, text } from '../http/vocabulary.ts'

export const dryRun = Type.Optional(flag('`true`: answer what would be done, and write nothing.'))

const which = {
  type: oneOf(['card', 'group'], 'What it is.'),
  id: text('Id of the card or group.'),
}

export const broughtBack = (description: string) =>
  list(
    object('A card or group that was brought back.', {
      ...which,
      change: oneOf(['created', 'changed', 'removed'], 'What was done to it.'),
      fields: list(text('Name of a field.'), 'For `changed`: the fields, as the canvas stores them.'),
      restore_token: Type.Optional(id('For a removed card: the token that restores it.')),
    }),
    description,
  )

export const leftAlone = (description: string) =>
  list(
    object('A card or group that was left as it is.', {
      ...which,
      fields: list(text('Name of a field.'), 'The fields that were left. Empty: the whole object.'),
      reason: oneOf(
        keptReasons,
        '`changed_since`: somebody else changed it since. `gone`: it is not on the board any more. `exists`: an object with its id is on the board again. `in_use`: cards of others are in the group. `identifier_taken`: another card has its identifier by now. `moved`: it was moved between boards. `together`: edits of several accounts came at the same moment, and can’t be told apart. `needs_delete`: removing it needs the scope `delete`. `expunged`: its past was expunged, so it is not known whether it was there.',
      ),
    }),
    description,
  )
