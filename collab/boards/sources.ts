/** Finds cards by their source: a URL or an identifier. It searches the document, because the index may be behind. */
import type * as Y from 'yjs'
import { boundIdentifiers, identifierKey, type Identifier } from '../../core/card-values.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { cardsOf, findCard } from '../canvas/canvas.ts'
import type { LiveBoards } from './live.ts'
import { catchUp } from './read.ts'

/** The key of a source. Different spellings of a URL give the same key. */
export const urlSource = (url: string): string => `url ${URL.parse(url)?.href ?? url}`
export const identifierSource = (identifier: Identifier): string => `identifier ${identifierKey(identifier)}`

/** The cards with these sources; by the keys of `urlSource` and `identifierSource`. */
export async function findSources(
  live: LiveBoards,
  boardId: string,
  wanted: ReadonlySet<string>,
): Promise<Map<string, string>> {
  await catchUp(live, boardId)
  return live.documents.withDocument(boardId, ({ document }) => inTurns(sourcesIn(document, wanted)))
}

/** The same in steps. Cards may change between them. */
export function* sourcesIn(document: Y.Doc, wanted: ReadonlySet<string>): Steps<Map<string, string>> {
  const found = new Map<string, string>()
  for (const id of [...cardsOf(document).keys()]) {
    yield
    const shared = findCard(document, id)
    if (!shared) continue
    const url = shared.get('url')
    const sources = boundIdentifiers(shared.get('identifiers')).map(identifierSource)
    if (typeof url === 'string') sources.push(urlSource(url))
    for (const source of sources) if (wanted.has(source) && !found.has(source)) found.set(source, id)
  }
  return found
}
