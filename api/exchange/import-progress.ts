/**
 * How far an import has come, kept with its idempotency key in the transactions that bring it there: each file when it is
 * stored, the cards when they are made. Sent again after a crash, the same call goes on from there.
 */
import type { CardChange } from '../../core/card.ts'
import { currentOperation, withOperation, type Operation } from '../../sql/operation.ts'
import type { Resumed } from '../http/idempotency/attempts.ts'

const fetchedMark = 'fetched:'
const createdMark = 'created:'

export class ImportProgress {
  readonly #operation: Operation | undefined = currentOperation()
  /** By the item's place: what it was found to be, its file stored. */
  readonly fetched: ReadonlyMap<number, CardChange>
  /** By the item's place: its card. */
  readonly created: ReadonlyMap<number, string>

  constructor(resumed: Resumed | null) {
    const entries = <Value>(mark: string) => new Map((resumed?.remembered(mark) ?? []) as [number, Value][])
    this.fetched = entries(fetchedMark)
    this.created = entries(createdMark)
  }

  /** Items are fetched at the same time, each with what it tells of itself. */
  ofItem<Result>(
    item: number,
    fetch: (stored: (card: CardChange) => void) => Promise<Result>,
  ): Promise<Result> {
    const part = this.#operation?.part()
    if (!part) return fetch(() => undefined)
    return withOperation(part, () => fetch((card) => part.made(part.remembered(fetchedMark, [item, card]))))
  }

  /** For the commit that makes the cards of these items. */
  cards(items: number[], ids: string[]): string[] {
    return ids.flatMap((id, n) => this.#operation?.remembered(createdMark, [items[n], id]) ?? [])
  }
}
