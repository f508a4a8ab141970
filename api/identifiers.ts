import type { Identifier } from '../core/card.ts'

/** Each once, and nothing else of what was sent with them. */
export function distinctIdentifiers(given: Identifier[]): Identifier[] {
  const byText = new Map(given.map(({ scope, value }) => [JSON.stringify([scope, value]), { scope, value }]))
  return [...byText.values()]
}
