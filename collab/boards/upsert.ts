/** Upserts cards in one commit: changes those that are found on the board by an identifier, and creates the others. */
import type * as Y from 'yjs'
import { identifierKey, type Identifier } from '../../core/card-values.ts'
import type { VersionedCard } from '../../core/card.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import { IdentifierTaken } from '../../core/identifier-taken.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import { requireWritable } from '../access.ts'
import { findCard, findGroup, readContent, shapesOf, type SharedMap } from '../canvas/canvas.ts'
import type { BuiltWrite, Written } from '../commit/write-request.ts'
import { buildCreates, Draft, mergeSame, type CardPatch } from './build.ts'
import { requireGroup, settleGroups } from './group-references.ts'
import { carriersOf, claimsOf, indexEdits, type Carrier } from './identifiers.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { showLive, type LiveBoards } from './live.ts'
import type { BoardHead } from '../log/log.ts'
import { filesToTake, requireAlive, type NamedFiles } from './named-files.ts'
import { cardsToCreate, isPlaced, type CardToCreate, type NewCard } from '../canvas/new-cards.ts'
import { BodyPlans } from './plan-bodies.ts'
import { presentWritten, type PresentedCard } from './read.ts'

interface UpsertRequest {
  account: string
  boardId: string
  cards: NewCard[]
  layout?: LayoutName | undefined
  files: NamedFiles
}

interface Entry extends CardToCreate {
  at: number
  identifiers: Identifier[]
}

type Matches = ReadonlyMap<Entry, string>

interface Upserted {
  cards: PresentedCard[]
  created: number
  updated: number
  live: boolean
}

/**
 * Upserts cards. On an existing card only the given fields change. Two concurrent requests with the same identifier
 * make one card: the commit refuses the second, which then tries again and finds the first one's card.
 *
 * @throws ServiceError `bad_request` when entries match the same card, and as creating and changing cards do
 */
export function upsertCards(live: LiveBoards, request: UpsertRequest): Promise<Upserted> {
  return live.documents.withCopies(request.account, (open) => upsert(live, request, open))
}

async function upsert(
  live: LiveBoards,
  request: UpsertRequest,
  open: (state: Uint8Array) => Promise<Y.Doc>,
): Promise<Upserted> {
  const { account, boardId } = request
  await requireWritable(live.database, account, boardId)
  const entries = (await cardsToCreate(request.cards, open)).map((card, at): Entry => ({
    ...card,
    at,
    identifiers: identifiersOf(card),
  }))
  requireDistinct(entries)
  const bodies = new BodyPlans(live.pool, account)
  const wanted = entries.flatMap((entry) => entry.identifiers)
  let matches: Matches = new Map()
  let left = new Map<Entry, VersionedCard>()
  const written = await live.documents.withDocument(boardId, async ({ document }): Promise<Written> => {
    for (let attempt = 1; ; attempt++) {
      await indexEdits(live, boardId)
      matches = matchEntries(entries, await carriersOf(live, boardId, wanted))
      const creates = entries.filter((entry) => !matches.has(entry))
      const upsert = { live, request, entries, creates, matches, bodies }
      const write = (): Promise<Written> =>
        live.queue.write(boardId, {
          account,
          reads: needsPlaces(upsert) ? 'board' : new Set(matches.values()),
          *build(head) {
            const built = yield* buildUpsert(head, document, upsert)
            left = built.left
            return built.write
          },
        })
      try {
        return await bodies.write(document, patchesOf(matches), write)
      } catch (error) {
        if (attempt === maxAttempts || !(error === movedOn || error instanceof IdentifierTaken)) throw error
      }
    }
  })
  const shown = await showLive(live, boardId, written.seq)
  const presented = await presentWritten(
    live,
    account,
    entries.map((entry) => left.get(entry)!),
    written,
  )
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
        throw badRequest(
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
      throw badRequest(
        `cards[${at}].identifiers match ${cards.length} different cards of the board (${cards.slice(0, 5).join(', ')}) by ${named}.`,
      )
    const other = byCard.get(card)
    if (other !== undefined)
      throw badRequest(
        `identifiers: cards[${other}] and cards[${at}] both match the card ${card} of the board by ${named}.`,
      )
    byCard.set(card, at)
    matches.set(entry, card)
  }
  return matches
}

interface Upsert {
  live: LiveBoards
  request: UpsertRequest
  entries: Entry[]
  creates: Entry[]
  matches: Matches
  bodies: BodyPlans
}

/** Whether some of the created cards need a place. */
const needsPlaces = ({ request, creates }: Upsert): boolean =>
  creates.length > 0 && (request.layout !== undefined || !creates.every(({ change }) => isPlaced(change)))

function* buildUpsert(
  head: BoardHead,
  document: Y.Doc,
  upsert: Upsert,
): Steps<{ write: BuiltWrite; left: Map<Entry, VersionedCard> }> {
  const { live, request, entries, creates, matches, bodies } = upsert
  const { account, layout, files } = request
  const left = new Map<Entry, VersionedCard>()
  const carriers: Carrier[] = []
  const draft = new Draft(head)
  const patches = patchesOf(matches)
  for (const [at, [entry, id]] of [...matches].entries()) {
    yield
    const shared = requireCarrier(document, id, entry)
    requireGroup(document, entry.change)
    if (!entry.kept) requireAlive(files, entry.at, entry.change, shared)
    const before = readContent(shared).identifiers
    const card = draft.patchCard(shared, patches[at]!, bodies)
    left.set(entry, card)
    carriers.push({ id, identifiers: card.content.identifiers, before })
  }

  for (const { at, change, kept } of creates) if (!kept) requireAlive(files, at, change, null)
  const occupied = needsPlaces(upsert) ? [...(yield* shapesOf(document)).values()] : null
  occupied?.push(...[...left.values()].map(({ content }) => content))
  const placing = occupied && { layout, occupied, pool: live.pool, account }
  const isGroup = (id: string) => findGroup(document, id) !== null
  const created = yield* buildCreates(draft, head, settleGroups(creates, isGroup), placing)
  for (const [n, entry] of creates.entries()) {
    left.set(entry, created[n]!)
    carriers.push({ id: entry.id, identifiers: created[n]!.content.identifiers })
  }
  draft.write.claims = claimsOf(carriers)
  draft.write.made = entries.map((entry) => {
    const matched = matches.get(entry)
    return matched === undefined ? { type: 'new', id: entry.id } : { type: 'changed', id: matched }
  })
  draft.write.files = yield* filesToTake(files.away, entries)
  return { write: draft.finish(), left }
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
