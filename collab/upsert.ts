/** Cards that are on the board by one of their identifiers are changed in place, the others are created: in one commit. */
import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import type { CardContent, Identifier } from '../core/card.ts'
import { ServiceError } from '../core/errors.ts'
import { IdentifierTaken } from '../core/identifier-taken.ts'
import type { LayoutName } from '../core/layout/arrangement.ts'
import { boundingBox } from '../core/layout/free-space.ts'
import { requireWritable } from './access.ts'
import { findCard, findGroup, readContent, type SharedMap } from './canvas.ts'
import type { BuiltWrite, Written } from './board-queue.ts'
import { buildCreates, buildPatch, emptyWrite, finish, mergeSame, occupiedSpace } from './build.ts'
import { UpdateBuilder } from './edit.ts'
import { filesToTake, type AwayFiles } from './file-references.ts'
import { requireGroup, settleGroups } from './group-references.ts'
import { carriersOf, claimsOf, identifierKey, indexEdits, type Carrier } from './identifiers.ts'
import { showLive, type LiveBoards } from './live.ts'
import type { BoardHead } from './log.ts'
import { cardsToCreate, isPlaced, type CardToCreate, type NewCard } from './new-cards.ts'
import { cardRow } from './project.ts'
import { presentWritten, type PresentedCard } from './read.ts'

export interface UpsertRequest {
  account: string
  boardId: string
  cards: NewCard[]
  layout?: LayoutName | undefined
  files?: AwayFiles
}

interface Entry extends CardToCreate {
  identifiers: Identifier[]
}

/** Before the id of a card that was there, among what a request made. */
export const matchedMark = '='

/** The card that each entry is, of those that are on the board. */
type Matches = ReadonlyMap<Entry, string>

/**
 * Of a card that is there only the fields that are sent change. Two requests with one identifier, at the same time and
 * in whatever processes, make one card: the commit refuses the second, which then finds the card of the first.
 *
 * @throws ServiceError `bad_request` for entries that cannot be told apart, and as creating and changing do
 */
export async function upsertCards(
  live: LiveBoards,
  request: UpsertRequest,
): Promise<{ cards: PresentedCard[]; created: number; updated: number; live: boolean }> {
  const { account, boardId, layout } = request
  await requireWritable(live.database, account, boardId)
  const entries = cardsToCreate(request.cards).map((card): Entry => ({
    ...card,
    identifiers: identifiersOf(card),
  }))
  requireDistinct(entries)
  let matches: Matches = new Map()
  let contents = new Map<Entry, CardContent>()
  const written = await live.documents.withDocument(boardId, async ({ document }): Promise<Written> => {
    for (let attempt = 1; ; attempt++) {
      await indexEdits(live, boardId)
      matches = matchEntries(entries, await carriersOf(live, boardId, entries.flatMap((entry) => entry.identifiers))) // prettier-ignore
      const creates = entries.filter((entry) => !matches.has(entry))
      const places =
        creates.length > 0 && (layout !== undefined || !creates.every((entry) => isPlaced(entry.change)))
      try {
        return await live.queue.write(boardId, {
          op: randomUUID(),
          account,
          reads: places ? 'board' : new Set(matches.values()),
          build(head) {
            const built = buildUpsert(head, document, { entries, creates, matches, places, layout })
            contents = built.contents
            built.write.files = filesToTake(request.files, entries)
            return built.write
          },
        })
      } catch (error) {
        if (attempt === maxAttempts || !(error === movedOn || error instanceof IdentifierTaken)) throw error
      }
    }
  })
  const shown = await showLive(live, boardId, written.seq)
  const cards = entries.map((entry) => {
    const id = matches.get(entry) ?? entry.id
    return { ...presentWritten(id, contents.get(entry)!, written), created: !matches.has(entry) }
  })
  return { cards, created: entries.length - matches.size, updated: matches.size, live: shown }
}

/** Each is a look at the index; one more is needed when others write the same identifiers meanwhile. */
const maxAttempts = 10

/** The document is not where the index was. */
const movedOn = new ServiceError('conflict', 'The cards with these identifiers are changing. Try again.')

const identifiersOf = ({ change, kept }: CardToCreate): Identifier[] =>
  change.identifiers ?? (kept ? readContent(kept).identifiers : [])

function requireDistinct(entries: Entry[]): void {
  const first = new Map<string, number>()
  for (const [at, { identifiers }] of entries.entries()) {
    for (const identifier of identifiers) {
      const other = first.get(identifierKey(identifier))
      if (other !== undefined && other !== at)
        throw new ServiceError(
          'bad_request',
          `identifiers: cards[${other}] and cards[${at}] both carry ${JSON.stringify(identifier)}.`,
        )
      first.set(identifierKey(identifier), at)
    }
  }
}

function matchEntries(entries: Entry[], carriers: Map<string, string[]>): Matches {
  const matches = new Map<Entry, string>()
  const byCard = new Map<string, number>()
  for (const [at, entry] of entries.entries()) {
    const found = entry.identifiers.filter((one) => carriers.has(identifierKey(one)))
    const cards = [...new Set(found.flatMap((one) => carriers.get(identifierKey(one))!))]
    const named = found.map((one) => JSON.stringify(one)).join(', ')
    const [card] = cards
    if (card === undefined) continue
    if (cards.length > 1)
      throw new ServiceError(
        'bad_request',
        `cards[${at}].identifiers match ${cards.length} cards of the board, ${cards.slice(0, 5).join(', ')}: by ${named}.`,
      )
    const other = byCard.get(card)
    if (other !== undefined)
      throw new ServiceError(
        'bad_request',
        `identifiers: cards[${other}] and cards[${at}] are the same card of the board, ${card}: by ${named}.`,
      )
    byCard.set(card, at)
    matches.set(entry, card)
  }
  return matches
}

interface Upsert {
  entries: Entry[]
  creates: Entry[]
  matches: Matches
  /** Some of the created cards need a place. */
  places: boolean
  layout: LayoutName | undefined
}

function buildUpsert(
  head: BoardHead,
  document: Y.Doc,
  { entries, creates, matches, places, layout }: Upsert,
): { write: BuiltWrite; contents: Map<Entry, CardContent> } {
  const contents = new Map<Entry, CardContent>()
  const carriers: Carrier[] = []
  const builder = new UpdateBuilder(head.apiClient, head.apiClock)
  const updates = emptyWrite()
  for (const [entry, id] of matches) {
    const shared = requireCarrier(document, id, entry)
    const [patch] = mergeSame([{ id, change: entry.change }])
    requireGroup(document, entry.change)
    const before = readContent(shared).identifiers
    const { content, interior } = buildPatch(builder, shared, patch!)
    contents.set(entry, content)
    carriers.push({ id, identifiers: content.identifiers, before })
    updates.rows.push(cardRow(id, content, interior))
    if (entry.change.z !== undefined) updates.top = Math.max(updates.top ?? -Infinity, content.z)
  }
  finish(updates, builder)
  const after = {
    ...head,
    apiClock: head.apiClock + updates.used,
    topZ: Math.max(head.topZ, updates.top ?? head.topZ),
  }

  const space = places ? occupiedSpace(document) : null
  for (const content of contents.values()) space?.occupy(boundingBox(content))
  const isGroup = (id: string) => findGroup(document, id) !== null
  const built = buildCreates(after, settleGroups(creates, isGroup), space, layout)
  for (const [n, entry] of creates.entries()) {
    contents.set(entry, built.contents[n]!)
    carriers.push({ id: entry.id, identifiers: built.contents[n]!.identifiers })
  }
  return {
    contents,
    write: {
      ...built.write,
      updates: [...updates.updates, ...built.write.updates],
      used: updates.used + built.write.used,
      rows: [...updates.rows, ...built.write.rows],
      top: creates.length > 0 ? built.write.top : updates.top,
      claims: claimsOf(carriers),
      made: entries.map((entry) => (matches.has(entry) ? matchedMark + matches.get(entry)! : entry.id)),
    },
  }
}

function requireCarrier(document: Y.Doc, id: string, entry: Entry): SharedMap {
  const wanted = new Set(entry.identifiers.map(identifierKey))
  const shared = findCard(document, id)
  if (!shared || !readContent(shared).identifiers.some((one) => wanted.has(identifierKey(one)))) throw movedOn
  return shared
}
