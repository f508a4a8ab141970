/**
 * How far an import has come, kept with its idempotency key in the transactions that bring it there: each file when it is
 * stored, the cards when they are made. Sent again after a crash, the same call goes on from there.
 */
import type { CardChange } from '../../core/card.ts'
import type { Made, SealedNote } from '../../sql/made.ts'
import { currentOperation, withOperation, type Operation } from '../../sql/operation.ts'
import type { Resumed } from '../http/idempotency/attempts.ts'

export class ImportProgress {
  readonly #operation: Operation | undefined = currentOperation()
  /** By the item's place: what it was found to be, its file stored. */
  readonly fetched: ReadonlyMap<number, CardChange>
  /** By the item's place: its card. */
  readonly created: ReadonlyMap<number, string>

  constructor(resumed: Resumed | null) {
    const entries = <Value>(type: SealedNote['type']) =>
      new Map((resumed?.remembered(type) ?? []) as [number, Value][])
    this.fetched = entries('fetched')
    this.created = entries('created')
  }

  /** Items are fetched at the same time, each with what it tells of itself. */
  ofItem<Result>(
    item: number,
    fetch: (stored: (card: CardChange) => void) => Promise<Result>,
  ): Promise<Result> {
    const part = this.#operation?.part()
    if (!part) return fetch(() => undefined)
    return withOperation(part, () => fetch((card) => part.made(part.remembered('fetched', [item, card]))))
  }

  /** For the commit that makes the cards of these items. */
  cards(items: number[], ids: string[]): Made[] {
    return ids.flatMap((id, n) => this.#operation?.remembered('created', [items[n], id]) ?? [])
  }
}
