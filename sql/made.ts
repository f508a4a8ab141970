/** What a request has made, as its idempotency key keeps it: an answer that was lost is made again from it. */

export type Made =
  | { type: 'new'; id: string }
  /** It was there: an entry of a request with `on_conflict` changed it. */
  | { type: 'changed'; id: string }
  /** A card that came from another board, where its id was `from`. */
  | { type: 'moved'; id: string; from: string }
  /** A token or a webhook, with its secret sealed. `until`: when the secret before it ends. */
  | { type: 'secret'; id: string; sealed: string; until?: string }
  | SealedNote

/** Sealed JSON: the answer itself, or how far an import has come. */
export interface SealedNote {
  type: 'answer' | 'fetched' | 'created'
  sealed: string
}

/** JSON in `idempotency_keys.result`. A new thing is its id alone, as the commit writes it. */
export const encodeMade = (made: Made): unknown => (made.type === 'new' ? made.id : made)

export const decodeMade = (stored: unknown): Made =>
  typeof stored === 'string' ? { type: 'new', id: stored } : (stored as Made)

/** The ids of all that is not sealed away, in order. */
export const idsOf = (made: readonly Made[]): string[] => made.flatMap((one) => ('id' in one ? [one.id] : []))

/** The secret that a request made. */
export function secretOf(made: readonly Made[]) {
  const secret = made.find((one) => one.type === 'secret')
  if (!secret) throw new Error('The request kept no secret under its idempotency key.')
  return secret
}
