/** Checks that cards have the expected versions, in the commit that changes or removes them. */
import type * as Y from 'yjs'
import type { VersionedCard } from '../../core/card.ts'
import type { Expects } from '../../core/version.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { cardsOf, type SharedMap } from '../canvas/canvas.ts'
import type { LiveBoards } from './live.ts'
import { cardTimes, presentAll, type PresentedCard } from './read.ts'

/** What became of the cards of a write. */
export interface Outcome {
  /** The cards that were changed, as they are now; or the cards that were removed, as they were. */
  cards: PresentedCard[]
  /** The cards that were left alone, because they don't have the expected version, as they are now. */
  conflicts: PresentedCard[]
  /** The ids that are not on the board. */
  notFound: string[]
  live: boolean
}

type DeepEvents = Parameters<Parameters<SharedMap['observeDeep']>[0]>[0]

/** Whether a card, as it is now in the document, has the expected version. */
export type Holds = (card: VersionedCard, expects: Expects) => boolean

/**
 * Builds a write so that its conditions hold at its place in the log. The commit refuses a write that was built on an
 * older state. But while a long write is built, editors change the document between its steps, and their edits come
 * before the write in the log. When they change a card whose condition held, the write is built again. Then that card
 * no longer has the expected version, so this ends.
 */
export function* buildChecked<Built>(document: Y.Doc, build: (holds: Holds) => Steps<Built>): Steps<Built> {
  const held = new Set<string>()
  let isStale = false
  const watch = (events: DeepEvents) => {
    const changed = events.flatMap(({ path, keys }) => (path.length > 0 ? [path[0]] : [...keys.keys()]))
    isStale ||= changed.some((id) => held.has(String(id)))
  }
  const holds: Holds = ({ id, version }, expects) => {
    if (!expects(version)) return false
    held.add(id)
    return true
  }
  const cards = cardsOf(document)
  cards.observeDeep(watch)
  try {
    for (;;) {
      held.clear()
      isStale = false
      const built = yield* build(holds)
      if (!isStale) return built
    }
  } finally {
    cards.unobserveDeep(watch)
  }
}

export async function presentConflicts(
  live: LiveBoards,
  { account, boardId }: { account: string; boardId: string },
  cards: VersionedCard[],
): Promise<PresentedCard[]> {
  const ids = cards.map(({ id }) => id)
  return presentAll(live, account, cards, cardTimes(live.database, boardId, ids))
}

export function missingFrom(cards: { id: string }[], ids: string[]): string[] {
  const found = new Set(cards.map(({ id }) => id))
  return ids.filter((id) => !found.has(id))
}
