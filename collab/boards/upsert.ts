/** Upserts cards in one commit: changes those that are found on the board by an identifier, and creates the others. */
import { randomUUID } from 'node:crypto'
import type * as Y from 'yjs'
import type { Identifier } from '../../core/card-values.ts'
import type { CardContent } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { IdentifierTaken } from '../../core/identifier-taken.ts'
import type { LayoutName } from '../../core/layout/arrangement.ts'
import { requireWritable } from '../access.ts'
import { findCard, findGroup, readContent, type SharedMap } from '../canvas/canvas.ts'
import type { BuiltWrite, Written } from '../commit/write-request.ts'
import {
  buildCreates,
  buildPatch,
  emptyWrite,
  finish,
  mergeSame,
  nextUpdate,
  type CardPatch,
} from './build.ts'
import { UpdateBuilder } from '../canvas/edit.ts'
import { shapesOf, type Threads } from './free-places.ts'
import { requireGroup, settleGroups } from './group-references.ts'
import { carriersOf, claimsOf, identifierKey, indexEdits, type Carrier } from './identifiers.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { showLive, type LiveBoards } from './live.ts'
import type { BoardHead } from '../log/log.ts'
import { filesToTake, requireAlive, type NamedFiles } from './named-files.ts'
import { cardsToCreate, isPlaced, type CardToCreate, type NewCard } from '../canvas/new-cards.ts'
import { BodyPlans } from './plan-bodies.ts'
import { cardRow } from '../canvas/project.ts'
import { presentWritten, type PresentedCard } from './read.ts'

export interface UpsertRequest {
  account: string
  boardId: string
  cards: NewCard[]
  layout?: LayoutName | undefined
  files: NamedFiles
}

interface Entry extends CardToCreate {
  /** The card's index in the request. */
  at: number
  identifiers: Identifier[]
}

/** The existing card that each entry matches. */
type Matches = ReadonlyMap<Entry, string>

/**
 * Upserts cards. On an existing card only the given fields change. Two concurrent requests with the same identifier
 * make one card: the commit refuses the second, which then tries again and finds the first one's card.
 *
 * @throws ServiceError `bad_request` when entries match the same card, and as creating and changing cards do
 */
export async function upsertCards(
  live: LiveBoards,
  request: UpsertRequest,
): Promise<{ cards: PresentedCard[]; created: number; updated: number; live: boolean }> {
  const { account, boardId, layout, files } = request
  await requireWritable(live.database, account, boardId)
  const entries = (await cardsToCreate(request.cards)).map((card, at): Entry => ({
    ...card,
    at,
    identifiers: identifiersOf(card),
  }))
  requireDistinct(entries)
  const bodies = new BodyPlans(live.pool, account)
  const threads = { pool: live.pool, account }
  let matches: Matches = new Map()
  let contents = new Map<Entry, CardContent>()
  const written = await live.documents.withDocument(boardId, async ({ document }): Promise<Written> => {
    for (let attempt = 1; ; attempt++) {
      await indexEdits(live, boardId)
      matches = matchEntries(
        entries,
        await carriersOf(
          live,
          boardId,
          entries.flatMap((entry) => entry.identifiers),
        ),
      )
      const creates = entries.filter((entry) => !matches.has(entry))
      const places =
        creates.length > 0 && (layout !== undefined || !creates.every((entry) => isPlaced(entry.change)))
      try {
        const write = (): Promise<Written> =>
          live.queue.write(boardId, {
            op: randomUUID(),
            account,
            reads: places ? 'board' : new Set(matches.values()),
            *build(head) {
              const built = yield* buildUpsert(head, document, {
                entries,
                creates,
                matches,
                places,
                layout,
                bodies,
                threads,
                files,
              })
              contents = built.contents
              built.write.files = yield* filesToTake(files.away, entries)
              return built.write
            },
          })
        return await bodies.write(document, patchesOf(matches), write)
      } catch (error) {
        if (attempt === maxAttempts || !(error === movedOn || error instanceof IdentifierTaken)) throw error
      }
    }
  })
  const shown = await showLive(live, boardId, written.seq)
  const left = entries.map((entry) => ({ id: matches.get(entry) ?? entry.id, content: contents.get(entry)! }))
  const presented = await presentWritten(live, account, left, written)
  const cards = entries.map((entry, at) => ({ ...presented[at], created: !matches.has(entry) }))
  return { cards, created: entries.length - matches.size, updated: matches.size, live: shown }
}

/** Attempts. Each one reads the index; another is needed when other requests write the same identifiers meanwhile. */
const maxAttempts = 10

/** The document differs from the index: a matched card has changed since. */
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
        `cards[${at}].identifiers match ${cards.length} different cards of the board (${cards.slice(0, 5).join(', ')}) by ${named}.`,
      )
    const other = byCard.get(card)
    if (other !== undefined)
      throw new ServiceError(
        'bad_request',
        `identifiers: cards[${other}] and cards[${at}] both match the card ${card} of the board by ${named}.`,
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
  /** Whether some of the created cards need a place. */
  places: boolean
  layout: LayoutName | undefined
  bodies: BodyPlans
  threads: Threads
  files: NamedFiles
}

function* buildUpsert(
  head: BoardHead,
  document: Y.Doc,
  { entries, creates, matches, places, layout, bodies, threads, files }: Upsert,
): Steps<{ write: BuiltWrite; contents: Map<Entry, CardContent> }> {
  const contents = new Map<Entry, CardContent>()
  const carriers: Carrier[] = []
  let builder = new UpdateBuilder(head.apiClient, head.apiClock)
  const updates = emptyWrite()
  const patches = patchesOf(matches)
  for (const [at, [entry, id]] of [...matches].entries()) {
    yield
    const shared = requireCarrier(document, id, entry)
    requireGroup(document, entry.change)
    if (!entry.kept) requireAlive(files, entry.at, entry.change, shared)
    const before = readContent(shared).identifiers
    const { content, interior, grows } = buildPatch(builder, shared, patches[at]!, bodies)
    updates.grows += grows
    contents.set(entry, content)
    carriers.push({ id, identifiers: content.identifiers, before })
    updates.rows.push(cardRow(id, content, interior))
    if (entry.change.z !== undefined) updates.top = Math.max(updates.top ?? -Infinity, content.z)
    builder = nextUpdate(updates, builder, head)
  }
  finish(updates, builder)
  const after = {
    ...head,
    apiClock: head.apiClock + updates.used,
    topZ: Math.max(head.topZ, updates.top ?? head.topZ),
  }

  for (const { at, change, kept } of creates) if (!kept) requireAlive(files, at, change, null)
  const occupied = places ? yield* shapesOf(document) : null
  occupied?.push(...contents.values())
  const placing = occupied && { layout, occupied, ...threads }
  const isGroup = (id: string) => findGroup(document, id) !== null
  const built = yield* buildCreates(after, settleGroups(creates, isGroup), placing)
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
      grows: updates.grows + built.write.grows,
      rows: [...updates.rows, ...built.write.rows],
      top: creates.length > 0 ? built.write.top : updates.top,
      claims: claimsOf(carriers),
      made: entries.map((entry) => {
        const matched = matches.get(entry)
        return matched === undefined ? { type: 'new', id: entry.id } : { type: 'changed', id: matched }
      }),
    },
  }
}

/** The patches of the matched cards. No card is matched twice, so there is one patch for each entry. */
const patchesOf = (matches: Matches): CardPatch[] =>
  mergeSame([...matches].map(([entry, id]) => ({ id, change: entry.change })))

function requireCarrier(document: Y.Doc, id: string, entry: Entry): SharedMap {
  const wanted = new Set(entry.identifiers.map(identifierKey))
  const shared = findCard(document, id)
  if (!shared || !readContent(shared).identifiers.some((one) => wanted.has(identifierKey(one)))) throw movedOn
  return shared
}
