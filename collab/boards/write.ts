/** Creates, changes and removes cards, for the API. The board may be in memory or not. */
import type { Made } from '../../sql/made.ts'
import { randomUUID } from 'node:crypto'
import { cardFields, isCardId, type CardContent } from '../../core/card.ts'
import { badRequest, ServiceError } from '../../core/errors.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import { requireWritable } from '../access.ts'
import type { Written } from '../commit/write-request.ts'
import { buildCreates, Draft, mergeSame, type CardPatch } from './build.ts'
import { cardsOf, findCard, findGroup, readContent, shapesOf } from '../canvas/canvas.ts'
import {
  groupNamedBy,
  mirroredGroups,
  requireGroup,
  settleGroups,
  type GroupMirror,
} from './group-references.ts'
import { claimsOf, indexEdits, type Carrier } from './identifiers.ts'
import { showLive, type LiveBoards } from './live.ts'
import { filesToTake, requireAlive, type NamedFiles } from './named-files.ts'
import { cardsToCreate, isPlaced, stateOfRemoved, type NewCard } from '../canvas/new-cards.ts'
import { BodyPlans } from './plan-bodies.ts'
import { cardTimes, catchUp, presentAll, presentWritten, type PresentedCard } from './read.ts'
import { sourcesIn } from './sources.ts'

/**
 * Creates cards. With a layout, all of them are arranged as one block in free space. Without one, cards that lack a
 * coordinate are placed in free space one by one; a given coordinate is kept. Cards that need no data of the board are
 * committed without loading it.
 */
export async function createCards(
  live: LiveBoards,
  request: {
    account: string
    boardId: string
    cards: NewCard[]
    layout?: LayoutName | undefined
    /** Returns what to store with the commit, given the cards' ids; see `BuiltWrite.made`. */
    remember?(ids: string[]): Made[]
    files?: NamedFiles
    /**
     * Keys of `urlSource` and `identifierSource`. The write is refused with `conflict` when a card of the board has one
     * of these sources.
     */
    newSources?: ReadonlySet<string>
  },
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  const { boardId, account, layout, newSources } = request
  const placed = layout === undefined && request.cards.every(({ change }) => isPlaced(change))
  const identified = request.cards.some(({ change, removed }) => removed || change.identifiers?.length)
  if (!placed || identified || request.cards.some(({ change }) => change.group_id))
    await requireWritable(live.database, account, boardId)
  if (identified) await indexEdits(live, boardId)
  const cards = await cardsToCreate(request.cards)
  const groups = [...new Set(cards.flatMap((card) => groupNamedBy(card) ?? []))]
  let contents: CardContent[] = []

  const write = async (mirror: GroupMirror | null): Promise<Written> => {
    const needsDocument = !placed || newSources !== undefined || (groups.length > 0 && !mirror)
    const lease = needsDocument ? await live.documents.lease(boardId) : null
    try {
      if (lease && groups.length > 0) await catchUp(live, boardId)
      return await live.queue.write(boardId, {
        account,
        reads: !placed || newSources ? 'board' : lease ? noCards : mirror ? 'position' : 'nothing',
        *build(head) {
          if (mirror && mirror.seq !== head.seq) throw movedOn
          if (newSources && sourcesIn(lease!.board.document, newSources).size > 0) throw isThere
          const isGroup = (id: string) =>
            lease ? findGroup(lease.board.document, id) !== null : (mirror?.ids.has(id) ?? false)
          const occupied = lease && !placed ? [...(yield* shapesOf(lease.board.document)).values()] : null
          const placing = occupied && { layout, occupied, pool: live.pool, account }
          const draft = new Draft(head)
          contents = yield* buildCreates(draft, head, settleGroups(cards, isGroup), placing)
          const { write } = draft
          write.claims = claimsOf(cards.map(({ id }, n) => ({ id, identifiers: contents[n]!.identifiers })))
          if (request.remember) write.made = request.remember(cards.map(({ id }) => id))
          write.files = yield* filesToTake(request.files?.away, cards)
          return draft.finish()
        },
      })
    } finally {
      lease?.release()
    }
  }
  const mirror = placed && groups.length > 0 ? await mirroredGroups(live, boardId, groups) : null
  const written = await write(mirror).catch((error: unknown) => {
    if (error === movedOn) return write(null)
    throw error
  })
  const shown = await showLive(live, boardId, written.seq)
  const left = cards.map(({ id }, n) => ({ id, content: contents[n]! }))
  return { cards: await presentWritten(live, account, left, written), live: shown }
}

/** Changes cards. Returns the ids of cards that are not on the board in `notFound`. */
export async function patchCards(
  live: LiveBoards,
  request: { account: string; boardId: string; patches: CardPatch[]; files: NamedFiles },
): Promise<{ cards: PresentedCard[]; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const patches = mergeSame(request.patches)
  const bodies = new BodyPlans(live.pool, account)
  let changed: { id: string; content: CardContent }[] = []
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    if (patches.some(({ change }) => change.identifiers?.length)) await indexEdits(live, boardId)
    else if (patches.some(({ change }) => typeof change.group_id === 'string')) await catchUp(live, boardId)
    const write = (): Promise<Written> =>
      live.queue.write(boardId, {
        account,
        reads: new Set(patches.map(({ id }) => id)),
        *build(head) {
          changed = []
          for (const [at, { id, change }] of request.patches.entries()) {
            const shared = findCard(document, id)
            if (shared) requireAlive(request.files, at, change, shared)
          }
          const draft = new Draft(head)
          const carriers: Carrier[] = []
          const found: CardPatch[] = []
          for (const patch of patches) {
            yield
            const shared = findCard(document, patch.id)
            if (!shared) continue
            requireGroup(document, patch.change)
            found.push(patch)
            if (patch.change.identifiers) {
              const before = readContent(shared).identifiers
              carriers.push({ id: patch.id, identifiers: patch.change.identifiers, before })
            }
            const content = draft.patchCard(shared, patch, bodies)
            if (patch.bodyBase !== undefined) requireRoom(content.body, request, patch.id)
            changed.push({ id: patch.id, content })
          }
          draft.write.claims = claimsOf(carriers)
          draft.write.files = yield* filesToTake(request.files.away, found)
          return draft.finish()
        },
      })
    return bodies.write(document, patches, write)
  })
  const shown = await showLive(live, boardId, written.seq)
  const order = new Map(request.patches.map(({ id }, at) => [id, at]))
  changed.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
  const notFound = missingFrom(changed, [...order.keys()])
  return { cards: await presentWritten(live, account, changed, written), notFound, live: shown }
}

/**
 * Refuses a merged text that is too long, although each of the two texts kept the limit. Cutting it, or dropping one of
 * them, would lose words without notice.
 *
 * @throws ServiceError `bad_request` that names the field
 */
function requireRoom(
  body: string | null,
  { patches, files }: { patches: CardPatch[]; files: NamedFiles },
  cardId: string,
): void {
  const { limit } = cardFields.body
  if (body === null || body.length <= limit || Array.from(body).length <= limit) return
  const at = patches.findLastIndex(({ id, change }) => id === cardId && change.body !== undefined)
  throw badRequest(
    `${files.where(at)}body: merged with the changes of other writers, the text would be longer than ${limit} characters. Read the card again and send a shorter text, or leave out body_base to replace their changes.`,
  )
}

/** Removes cards. Returns each complete card, with a token that can restore it. */
export async function removeCards(
  live: LiveBoards,
  request: { account: string; boardId: string; ids: string[] },
): Promise<{ cards: PresentedCard[]; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const ids = [...new Set(request.ids)]
  const times = await cardTimes(live.database, boardId, ids.filter(isCardId))
  let removed: { id: string; token: string; content: CardContent }[] = []
  const written = await live.documents.withDocument(boardId, ({ document }) =>
    live.queue.write(boardId, {
      account,
      reads: new Set(ids),
      *build(head) {
        removed = []
        const draft = new Draft(head)
        const { builder, write } = draft
        for (const id of ids) {
          yield
          const shared = findCard(document, id)
          if (!shared) continue
          const token = randomUUID()
          removed.push({ id, token, content: readContent(shared) })
          write.removed.push({ token, id, state: stateOfRemoved(shared) })
          write.rows.push({ id, gone: true })
          builder.removeKey(cardsOf(document), id)
          builder.nextChange()
        }
        return draft.finish()
      },
    }),
  )
  const shown = await showLive(live, boardId, written.seq)
  const presented = await presentAll(live, account, removed, times)
  const cards = presented.map((card, at) => ({ ...card, restore_token: removed[at]!.token }))
  return { cards, notFound: missingFrom(removed, ids), live: shown }
}

function missingFrom(cards: { id: string }[], ids: string[]): string[] {
  const found = new Set(cards.map(({ id }) => id))
  return ids.filter((id) => !found.has(id))
}

const movedOn = new Error('The board has changed since its groups were read from the index.')

/** Another request has created a card with this source meanwhile. */
const isThere = new ServiceError('conflict', 'A card of this board already has one of these sources.')

/** For a write that reads the document's groups but no card. */
const noCards: ReadonlySet<string> = new Set()
