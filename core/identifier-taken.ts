import type { Identifier } from './card-values.ts'
import { ServiceError } from './errors.ts'

/** Another card of the board carries an identifier that the API is asked to give to a card. */
export class IdentifierTaken extends ServiceError {
  constructor({ scope, value }: Identifier, card: string) {
    super('conflict', `identifiers: ${JSON.stringify({ scope, value })} is on card ${card} of this board.`)
    this.name = 'IdentifierTaken'
  }
}
