/** Moves cards from one board to another, in one commit on both boards. */
import type * as Y from 'yjs'
import { identifierKey } from '../../core/card-values.ts'
import type { CardContent, VersionedCard } from '../../core/card.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { requireWritable } from '../access.ts'
import { cardsOf, cardsRoot, findCard, readContent, readShape, shapesOf } from '../canvas/canvas.ts'
import type { BuiltWrite } from '../commit/write-request.ts'
import { Draft } from './build.ts'
import type { BoardDocument } from '../documents/document.ts'
import { inUpdates, type StoredFields } from '../canvas/edit.ts'
import { buildUnchanged } from './conditions.ts'
import { placesOfMoved, type Threads } from './free-places.ts'
import { fileKeysOf } from './file-keys.ts'
import { indexEdits } from './identifiers.ts'
import { newIds } from '../canvas/ids.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { showLive, type LiveBoards } from './live.ts'
import { bytesOf, type BoardHead } from '../log/log.ts'
import { cardRow, interiorOf, versioned } from '../canvas/project.ts'
import { presentWritten, type PresentedCard } from './read.ts'

interface MoveRequest {
  account: string
  boardId: string
  /** The target board. It must be another board. */
  toBoardId: string
  ids: string[]
}

interface MoveAnswer {
  cards: PresentedCard[]
  notFound: string[]
  /** New ids of cards whose id existed on the target already. */
  renamed: Record<string, string>
  live: boolean
}

interface MovedCard extends VersionedCard {
  was: string
}

/**
 * Moves cards. They keep all their fields, shared types and their creation time. They lose their group. They get a new
 * place when theirs is occupied. In another workspace their files are added to it.
 *
 * Committed typing is on the target. Typing that was not yet committed on the old card is lost.
 *
 * @throws ServiceError
 */
export async function moveCards(live: LiveBoards, request: MoveRequest): Promise<MoveAnswer> {
  const { account, boardId, toBoardId } = request
  const workspace = await requireWritable(live.database, account, boardId)
  const toWorkspace = await requireWritable(live.database, account, toBoardId, 'to_board_id: ')
  const ids = [...new Set(request.ids)]
  let moved: MovedCard[] = []
  const [source, target] = await live.documents.withDocument(boardId, (from) =>
    live.documents.withDocument(toBoardId, async (to) => {
      await Promise.all([indexEdits(live, boardId), indexEdits(live, toBoardId)])
      return live.queue.writePair({
        account,
        boardIds: [boardId, toBoardId],
        where: 'to_board_id: ',
        *build([head, toHead]) {
          for (const board of [from, to]) requireTrusted(board)
          const copied = new Set<string>()
          const copies = yield* buildUnchanged(from.document, copied, () =>
            buildCopies(from, to.document, toHead, { ids, copied, threads: { pool: live.pool, account } }),
          )
          moved = copies.moved
          if (toWorkspace !== workspace) copies.write.files = yield* filesOf(from.document, moved)
          return [yield* buildRemoval(from.document, head, moved), copies.write] as [BuiltWrite, BuiltWrite]
        },
      })
    }),
  )
  const shown = await Promise.all([
    showLive(live, boardId, source.seq),
    showLive(live, toBoardId, target.seq),
  ])
  const found = new Set(moved.map(({ was }) => was))
  return {
    cards: await presentWritten(live, account, moved, target),
    notFound: ids.filter((id) => !found.has(id)),
    renamed: Object.fromEntries(moved.flatMap(({ id, was }) => (id === was ? [] : [[was, id]]))),
    live: shown.every(Boolean),
  }
}

function* filesOf(document: Y.Doc, moved: MovedCard[]): Steps<string[]> {
  const keys = new Set<string>()
  for (const { was } of moved) {
    for (const key of yield* fileKeysOf(findCard(document, was))) keys.add(key)
    yield
  }
  return [...keys]
}

function* buildRemoval(document: Y.Doc, head: BoardHead, moved: MovedCard[]): Steps<BuiltWrite> {
  const draft = new Draft(head)
  draft.write.made = [] // the target's write records both
  for (const { was } of moved) {
    draft.builder.removeKey(cardsOf(document), was)
    draft.write.rows.push({ id: was, gone: true })
    draft.builder.nextChange()
    yield
  }
  return draft.finish()
}

/** @param copied gets the card whose copy takes several steps, as long as they last: its row must fit its copy */
function* buildCopies(
  from: BoardDocument,
  to: Y.Doc,
  head: BoardHead,
  { ids, copied, threads }: { ids: string[]; copied: Set<string>; threads: Threads },
): Steps<{ write: BuiltWrite; moved: MovedCard[] }> {
  const draft = new Draft(head)
  const { builder, write } = draft
  const there = cardsOf(to)
  const sources = ids.flatMap((was) => {
    const shape = readShape(from.document, was)
    return shape ? [{ was, shape }] : []
  })
  const cards = sources.map(({ shape }) => shape)
  const places = yield* placesOfMoved(threads, { cards, rest: [...(yield* shapesOf(to)).values()] })
  const moved: MovedCard[] = []
  for (const [n, { was }] of sources.entries()) {
    yield
    const shared = findCard(from.document, was)
    if (!shared) continue // an editor has removed it meanwhile
    const before = readContent(shared)
    const content: CardContent = { ...before, ...places[n]!, group_id: null }
    const id = there.has(was) ? newIds(1)[0]! : was
    const fields: StoredFields = { group_id: null }
    for (const field of ['x', 'y'] as const)
      if (content[field] !== before[field]) fields[field] = content[field]
    const card = versioned(id, content, interiorOf(shared))
    copied.add(was)
    for (const step of inUpdates(
      builder,
      builder.copyMap(shared, cardsRoot, id, { fields }, there._map.get(id)),
    )) {
      if (builder.bytes > limits.movedBytes) throw tooMuch
      yield step
    }
    copied.clear()
    write.rows.push({ ...cardRow(card, null), moved_from: from.boardId, was })
    draft.raiseTop(content.z)
    moved.push({ ...card, was })
    builder.nextChange()
  }
  write.adds = moved.length
  write.made = moved.map(({ id, was }) => ({ type: 'moved', id, from: was }))
  write.claims = claimsOfMoved(moved)
  write.grows = bytesOf(draft.finish().updates)
  if (write.grows > limits.movedBytes) throw tooMuch
  return { write, moved }
}

/**
 * The identifiers that must not be on any other card of the target. Two moved cards may share one, because an editor
 * must have pasted it. So may a card on the target with the same id.
 */
function claimsOfMoved(moved: MovedCard[]): BuiltWrite['claims'] {
  const identifiers = new Map(
    moved.flatMap(({ content }) => content.identifiers.map((one) => [identifierKey(one), one])),
  )
  if (identifiers.size === 0) return null
  return {
    identifiers: [...identifiers.values()],
    cards: [...new Set(moved.flatMap(({ id, was }) => [id, was]))],
  }
}

function requireTrusted({ isDistrusted }: BoardDocument): void {
  if (isDistrusted)
    throw new ServiceError('session_unavailable', 'The live document is being reloaded. Try again shortly.')
}

const tooMuch = new ServiceError(
  'payload_too_large',
  `These cards hold more than ${limits.movedBytes / 1024 / 1024} MB, and one request moves no more. Name fewer cards in card_ids.`,
)
