/** The cards and groups of a document, as shared maps. */
import * as Y from 'yjs'
import { cardsOf, groupsOf, type SharedMap } from '../canvas/canvas.ts'

export type ObjectType = 'card' | 'group'

/** The shared map of a card or group, also of one that the API does not show. */
export function sharedOf(document: Y.Doc, { type, id }: { type: ObjectType; id: string }): SharedMap | null {
  const shared = (type === 'card' ? cardsOf(document) : groupsOf(document)).get(id)
  return shared instanceof Y.Map ? (shared as SharedMap) : null
}
