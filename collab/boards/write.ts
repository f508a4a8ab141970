/** Creates and removes cards, for the API. The board may be in memory or not. */
import type { Made } from '../../sql/made.ts'
import type * as Y from 'yjs'
import { isCardId, type VersionedCard } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import type { LayoutName } from '../../core/layout/solve.ts'
import { both, type Expects } from '../../core/version.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { requireWritable } from '../access.ts'
import type { BuiltWrite, Written } from '../commit/write-request.ts'
import type { BoardHead } from '../log/log.ts'
import { buildCreates, Draft } from './build.ts'
import { findCard, findGroup, shapesOf } from '../canvas/canvas.ts'
import { readCard } from '../canvas/project.ts'
import { buildChecked, missingFrom, presentConflicts, type Outcome } from './conditions.ts'
import { groupNamedBy, mirroredGroups, settleGroups, type GroupMirror } from './group-references.ts'
import { claimsOf, indexEdits } from './identifiers.ts'
import { showLive, type LiveBoards } from './live.ts'
import { filesToTake, type NamedFiles } from './named-files.ts'
import { cardsToCreate, isPlaced, type NewCard } from '../canvas/new-cards.ts'
import { cardTimes, catchUp, presentAll, presentWritten, type PresentedCard } from './read.ts'
import { sourcesIn } from './sources.ts'

interface CreateRequest {
  account: string
  boardId: string
  cards: NewCard[]
  layout?: LayoutName | undefined
  /** With a layout: cards with both coordinates keep them, and only the others are arranged. */
  keepsPlaced?: boolean
  /** Returns what to store with the commit, given the cards' ids; see `BuiltWrite.made`. */
  remember?(ids: string[]): Made[]
  files?: NamedFiles
  /**
   * Keys of `urlSource` and `identifierSource`. The write is refused with `conflict` when a card of the board has one
   * of these sources.
   */
  newSources?: ReadonlySet<string>
}

/**
 * Creates cards. With a layout, all of them are arranged as one block in free space. Without one, cards that lack a
 * coordinate are placed in free space one by one; a given coordinate is kept. Cards that need no data of the board are
 * committed without loading it.
 */
export async function createCards(
  live: LiveBoards,
  request: CreateRequest,
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  return live.documents.withCopies(request.account, (open) => create(live, request, open))
}

async function create(
  live: LiveBoards,
  request: CreateRequest,
  open: (state: Uint8Array) => Promise<Y.Doc>,
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  const { boardId, account, layout, keepsPlaced = !layout, newSources } = request
  const placed = keepsPlaced && request.cards.every(({ change }) => isPlaced(change))
  const identified = request.cards.some(({ change, removed }) => removed || change.identifiers?.length)
  if (!placed || identified || request.cards.some(({ change }) => change.group_id))
    await requireWritable(live.database, account, boardId)
  if (identified) await indexEdits(live, boardId)
  const cards = await cardsToCreate(request.cards, open)
  const groups = [...new Set(cards.flatMap((card) => groupNamedBy(card) ?? []))]
  let created: VersionedCard[] = []

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
          if (newSources) {
            const found = yield* sourcesIn(lease!.board.document, newSources)
            if (found.size > 0) throw isThere
          }
          const isGroup = (id: string) =>
            lease ? findGroup(lease.board.document, id) !== null : (mirror?.ids.has(id) ?? false)
          const occupied = lease && !placed ? [...(yield* shapesOf(lease.board.document)).values()] : null
          const placing = occupied && { layout, keepsPlaced, occupied, pool: live.pool, account }
          const draft = new Draft(head)
          created = yield* buildCreates(draft, head, settleGroups(cards, isGroup), placing)
          const { write } = draft
          write.claims = claimsOf(
            created.map(({ id, content }) => ({ id, identifiers: content.identifiers })),
          )
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
  return { cards: await presentWritten(live, account, created, written), live: shown }
}

export interface CardToRemove {
  id: string
  expects?: Expects | undefined
}

/** Removes cards. Each has a token that can restore it. */
export async function removeCards(
  live: LiveBoards,
  request: { account: string; boardId: string; cards: CardToRemove[] },
): Promise<Outcome> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const asked = new Map<string, Expects | undefined>()
  for (const { id, expects } of request.cards) asked.set(id, both(asked.get(id), expects))
  const ids = [...asked.keys()]
  const conditions = [...asked].map(([id, expects]) => ({ id, expects }))
  const times = await cardTimes(live.database, boardId, ids.filter(isCardId))
  let removed: RemovedCard[] = []
  let conflicts: VersionedCard[] = []
  const written = await live.documents.withDocument(boardId, ({ document }) =>
    live.queue.write(boardId, {
      account,
      reads: new Set(ids),
      *build(head) {
        const built = yield* buildChecked(document, conditions, (refused) => {
          const left = ids.filter((id) => !refused.has(id))
          return buildRemovals(document, head, left)
        })
        ;({ removed, conflicts } = built)
        return built.write
      },
    }),
  )
  const shown = await showLive(live, boardId, written.seq)
  const presented = await presentAll(live, account, removed, times)
  return {
    cards: presented.map((card, at) => ({ ...card, restore_token: removed[at]!.token })),
    conflicts: await presentConflicts(live, request, conflicts),
    notFound: missingFrom([...removed, ...conflicts], ids),
    live: shown,
  }
}

interface RemovedCard extends VersionedCard {
  token: string
}

function* buildRemovals(
  document: Y.Doc,
  head: BoardHead,
  ids: string[],
): Steps<{ write: BuiltWrite; removed: RemovedCard[] }> {
  const removed: RemovedCard[] = []
  const draft = new Draft(head)
  for (const id of ids) {
    yield
    const shared = findCard(document, id)
    if (!shared) continue
    const card = readCard(id, shared)
    removed.push({ ...card, token: yield* draft.removeCard(document, id, shared) })
  }
  return { write: draft.finish(), removed }
}

const movedOn = new Error('The board has changed since its groups were read from the index.')

/** Another request has created a card with this source meanwhile. */
const isThere = new ServiceError('conflict', 'A card of this board already has one of these sources.')

/** For a write that reads the document's groups but no card. */
const noCards: ReadonlySet<string> = new Set()
