/** A card's `group_id` names a group on its board. */
import type * as Y from 'yjs'
import type { CardChange } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { findGroup, readContent } from '../canvas/canvas.ts'
import type { LiveBoards } from './live.ts'
import type { CardToCreate } from '../canvas/new-cards.ts'

/** The group that a card would be in: as it is written, or as it was kept. */
export const groupNamedBy = ({ change, kept }: CardToCreate): string | null =>
  change.group_id === undefined && kept ? readContent(kept).group_id : (change.group_id ?? null)

/** A `group_id` must be a group on the board; of a card that comes back one that is gone is dropped. */
export function settleGroups(cards: CardToCreate[], isGroup: (id: string) => boolean): CardToCreate[] {
  return cards.map((card) => {
    const id = groupNamedBy(card)
    if (id === null || isGroup(id)) return card
    if (!card.kept) throw unknownGroup(id)
    return { ...card, change: { ...card.change, group_id: null } }
  })
}

/** Those of some groups that a board has, at a position of its log. */
export interface GroupMirror {
  seq: number
  ids: ReadonlySet<string>
}

/** For a board that need not be loaded to know its groups. Null when it is in memory, or its mirror is behind. */
export async function mirroredGroups(
  live: LiveBoards,
  boardId: string,
  ids: string[],
): Promise<GroupMirror | null> {
  if (live.documents.find(boardId)) return null
  const [found] = await live.database.asSystem(
    (tx) => tx<{ seq: number; complete: boolean; known: string[] }[]>`
      select d.seq, d.indexed_seq = d.seq as complete, array(
        select g.group_id
        from group_index g
        where g.board_id = d.board_id and g.group_id = any (${ids}) and g.deleted_at is null
      ) as known
      from board_documents d
      where d.board_id = ${boardId}`,
  )
  return found?.complete ? { seq: found.seq, ids: new Set(found.known) } : null
}

export function requireGroup(document: Y.Doc, change: CardChange): void {
  if (typeof change.group_id === 'string' && findGroup(document, change.group_id) === null)
    throw unknownGroup(change.group_id)
}

function unknownGroup(id: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `group_id must name a group on the same board; ${JSON.stringify(id)} is none.`,
  )
}
