import type * as Y from 'yjs'
import type { CardContent } from '../../core/card.ts'
import { cardsOf, readCard } from '../../collab/canvas/canvas.ts'

/** Returns all cards of a document, by id. */
export function cardContents(document: Y.Doc): Map<string, CardContent> {
  const cards = new Map<string, CardContent>()
  for (const id of cardsOf(document).keys()) {
    const content = readCard(document, id)
    if (content) cards.set(id, content)
  }
  return cards
}
