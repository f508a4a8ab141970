/**
 * The progress of an import, stored with its idempotency key: each file in the transaction that records it, the cards in
 * the transaction that creates them. If the request is repeated after a crash, the import resumes from there.
 */
import type { CardChange } from '../../core/card.ts'
import type { Made, SealedNote } from '../../sql/made.ts'
import { currentOperation, withOperation, type Operation } from '../../sql/operation.ts'
import type { Resumed } from '../http/idempotency/attempts.ts'

export class ImportProgress {
  readonly #operation: Operation | undefined = currentOperation()
  /** Card fields of items whose file is stored, by index of the item. */
  readonly fetched: ReadonlyMap<number, CardChange>
  /** Ids of created cards, by index of the item. */
  readonly created: ReadonlyMap<number, string>

  constructor(resumed: Resumed | null) {
    const entries = <Value>(type: SealedNote['type']) =>
      new Map((resumed?.remembered(type) ?? []) as [number, Value][])
    this.fetched = entries('fetched')
    this.created = entries('created')
  }

  /** Runs the fetch of one item. Concurrent fetches record their progress separately. */
  ofItem<Result>(
    item: number,
    fetch: (stored: (card: CardChange) => void) => Promise<Result>,
  ): Promise<Result> {
    const part = this.#operation?.part()
    if (!part) return fetch(() => undefined)
    return withOperation(part, () => fetch((card) => part.made(part.remembered('fetched', [item, card]))))
  }

  /** The progress to record in the commit that creates the cards of these items. */
  cards(items: number[], ids: string[]): Made[] {
    return ids.flatMap((id, n) => this.#operation?.remembered('created', [items[n], id]) ?? [])
  }
}
