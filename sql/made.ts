/**
 * The list of objects that a request made. It is stored with the idempotency key, to rebuild an answer that was lost.
 */

export type Made =
  | { type: 'new'; id: string }
  /** An existing object, which a request with `on_conflict` changed. */
  | { type: 'changed'; id: string }
  /** A card moved from another board, where its id was `from`. */
  | { type: 'moved'; id: string; from: string }
  /** A token or a webhook, with its secret encrypted. `until`: when the previous secret expires. */
  | { type: 'secret'; id: string; sealed: string; until?: string }
  | SealedNote

/** Encrypted JSON: the answer of the request, or the progress of an import. */
export interface SealedNote {
  type: 'answer' | 'fetched' | 'created'
  sealed: string
}

/** Encodes an entry for `idempotency_keys.result`. A new object is only its id, because the commit writes it so. */
export const encodeMade = (made: Made): unknown => (made.type === 'new' ? made.id : made)

export const decodeMade = (stored: unknown): Made =>
  typeof stored === 'string' ? { type: 'new', id: stored } : (stored as Made)

/** Returns the ids of all entries that have one, in order. */
export const idsOf = (made: readonly Made[]): string[] => made.flatMap((one) => ('id' in one ? [one.id] : []))

/** Finds the secret among the entries of a request. @throws Error if the request made no secret */
export function secretOf(made: readonly Made[]) {
  const secret = made.find((one) => one.type === 'secret')
  if (!secret) throw new Error('The request kept no secret under its idempotency key.')
  return secret
}
