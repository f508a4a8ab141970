import type * as Y from 'yjs'
import type { CardContent } from '../../core/card.ts'
import { cardsOf, findCard, readContent } from '../../collab/canvas/canvas.ts'

/** Returns all cards of a document, by id. */
export function cardContents(document: Y.Doc): Map<string, CardContent> {
  const cards = new Map<string, CardContent>()
  for (const id of cardsOf(document).keys()) {
    const shared = findCard(document, id)
    if (shared) cards.set(id, readContent(shared))
  }
  return cards
}
