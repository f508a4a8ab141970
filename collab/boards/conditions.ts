/** Checks that cards have the expected versions, in the commit that changes or removes them. */
import type * as Y from 'yjs'
import type { VersionedCard } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Expects } from '../../core/version.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { cardsOf, findCard, groupsOf, rootEntry } from '../canvas/canvas.ts'
import { readCard } from '../canvas/project.ts'
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

interface Condition {
  id: string
  expects?: Expects | undefined
}

/**
 * Checks the conditions, then builds a write without the cards that fail them. The conditions hold at the write's place
 * in the log: the commit refuses a write that was built on an older state. But while a long write is built,
 * editors change the document between its steps, and their edits come before the write in the log. When they change a
 * card whose condition held, it is checked again, and the write is built again.
 *
 * @param build gets the ids of the cards that it must leave alone
 */
export function* buildChecked<Built extends object>(
  document: Y.Doc,
  conditions: Condition[],
  build: (refused: ReadonlySet<string>) => Steps<Built>,
): Steps<Built & { conflicts: VersionedCard[] }> {
  const held = new Set<string>()
  return yield* buildUnchanged(document, held, function* () {
    held.clear()
    const conflicts: VersionedCard[] = []
    const refused = new Set<string>()
    for (const { id, expects } of conditions) {
      if (!expects) continue
      const shared = findCard(document, id)
      const card = shared && readCard(id, shared)
      if (card && expects(card.version)) held.add(id)
      else refused.add(id)
      if (card && !held.has(id)) conflicts.push(card)
      yield
    }
    return { ...(yield* build(refused)), conflicts }
  })
}

/**
 * Builds a write. Builds it again when an editor has changed one of the `held` cards or groups meanwhile.
 *
 * @throws ServiceError `session_unavailable` when that happens each time
 */
export function* buildUnchanged<Built>(
  document: Y.Doc,
  held: ReadonlySet<string>,
  build: () => Steps<Built>,
): Steps<Built> {
  let isStale = false
  const maps: object[] = [cardsOf(document), groupsOf(document)]
  // `observeDeep` would find the path of each change, which visits all that comes before it in a list.
  const watch = ({ changed }: Y.Transaction) => {
    for (const [type, keys] of changed) {
      const place = rootEntry(type)
      if (!place || !maps.includes(place.root)) continue
      for (const key of place.key === null ? keys : [place.key]) isStale ||= key !== null && held.has(key)
    }
  }
  document.on('afterTransaction', watch)
  try {
    for (let round = 0; round < maxRounds; round++) {
      isStale = false
      const built = yield* build()
      if (!isStale) return built
    }
  } finally {
    document.off('afterTransaction', watch)
  }
  throw new ServiceError('session_unavailable', 'Somebody is editing these cards. Try again shortly.')
}

/** A write is built at most this often, because nothing else of its boards is committed meanwhile. */
const maxRounds = 20

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
