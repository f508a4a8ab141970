/** Checks that a card's `group_id` names a group on its board. */
import type * as Y from 'yjs'
import type { CardChange } from '../../core/card.ts'
import { badRequest, type ServiceError } from '../../core/errors.ts'
import { findGroup, readContent } from '../canvas/canvas.ts'
import type { LiveBoards } from './live.ts'
import type { CardToCreate } from '../canvas/new-cards.ts'

/** The group of a new card: the given one, or that of the restored card. */
export const groupNamedBy = ({ change, kept }: CardToCreate): string | null =>
  change.group_id === undefined && kept ? readContent(kept).group_id : (change.group_id ?? null)

/** Checks each `group_id`. A restored card whose group is gone loses it; any other unknown group is an error. */
export function settleGroups(cards: CardToCreate[], isGroup: (id: string) => boolean): CardToCreate[] {
  return cards.map((card) => {
    const id = groupNamedBy(card)
    if (id === null || isGroup(id)) return card
    if (!card.kept) throw unknownGroup(id)
    return { ...card, change: { ...card.change, group_id: null } }
  })
}

/** The requested groups that a board has, at a position of its log. */
export interface GroupMirror {
  seq: number
  ids: ReadonlySet<string>
}

/**
 * Reads a board's groups from the index, without loading the board. Null when the board is in memory, or the index is
 * behind.
 */
export async function mirroredGroups(
  live: LiveBoards,
  boardId: string,
  ids: string[],
): Promise<GroupMirror | null> {
  if (live.documents.find(boardId)?.isStored === false) return null
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
  return badRequest(
    `group_id must name a group on the same board. This board has no group ${JSON.stringify(id)}.`,
  )
}
