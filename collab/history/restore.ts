/** Brings a board, or some of its cards, back to what they were at a moment. It is a new change; the past stays. */
import type * as Y from 'yjs'
import { IdentifierTaken } from '../../core/identifier-taken.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import type { Made } from '../../sql/made.ts'
import { requireWritable } from '../access.ts'
import { showLive, type LiveBoards } from '../boards/live.ts'
import { catchUp } from '../boards/read.ts'
import { cardsOf, findCard, findGroup, groupsOf, type SharedMap } from '../canvas/canvas.ts'
import { differingFields, keysOfAll } from '../canvas/compare.ts'
import {
  buildTargets,
  changeOf,
  requireBounded,
  takenIdentifiers,
  type Change,
  type Target,
} from './bring-back.ts'
import { readExpunged, readMoved } from './left-alone.ts'
import type { Moment } from './outline.ts'
import { withPast, type Past, type Reader } from './past.ts'

export interface RestoreRequest {
  boardId: string
  moment: Moment
  reader: Reader
  /** The cards to restore. Null: the whole board. */
  ids: string[] | null
  dryRun: boolean
  /** Throws when the caller may not remove cards. */
  requireDelete(): void
  /** Returns what to store with the commit; see `BuiltWrite.made`. */
  remember(restored: Restored): Made[]
}

export interface Restored extends Pick<Past, 'position' | 'at'> {
  changes: Change[]
  /** Cards that are left as they are. `moved`: to this board or away from it. `expunged`: what they were is not known. */
  left: { id: string; reason: 'moved' | 'expunged' }[]
  /** Ids of the request that are on the board neither now nor at the moment. */
  notFound: string[]
  live: boolean
}

/**
 * Editors go on meanwhile: what they change while the write is made is merged with it, as with any other edit.
 *
 * @throws ServiceError
 */
export async function restoreTo(live: LiveBoards, request: RestoreRequest): Promise<Restored> {
  const { boardId, moment, reader, dryRun } = request
  await requireWritable(live.database, reader.account, boardId)
  return withPast(live, boardId, moment, reader, async (past) => {
    const { position, at } = past
    let restored: Restored = { position, at, changes: [], left: [], notFound: [], live: true }
    const written = await live.documents.withDocument(boardId, async ({ document }) => {
      await catchUp(live, boardId)
      const { targets, ...plan } = await planRestore(live, document, past, request)
      restored = { ...restored, ...plan, changes: targets.map(changeOf) }
      if (targets.some(({ type, change }) => type === 'card' && change === 'removed')) request.requireDelete()
      requireBounded(targets)
      if (dryRun || targets.length === 0) return null
      return live.queue.write(boardId, {
        account: reader.account,
        reads: 'board',
        *build(head) {
          const [taken] = (yield* takenIdentifiers(document, targets)).values()
          if (taken) throw new IdentifierTaken(taken, taken.card)
          const { write, changes } = yield* buildTargets(document, head, targets)
          restored = { ...restored, changes }
          write.made = request.remember(restored)
          return write
        },
      })
    })
    if (written) restored.live = await showLive(live, boardId, written.seq)
    return restored
  })
}

async function planRestore(
  live: LiveBoards,
  now: Y.Doc,
  { document: past, position }: Past,
  { boardId, ids }: RestoreRequest,
): Promise<{ targets: Target[] } & Pick<Restored, 'left' | 'notFound'>> {
  const asked = ids ? new Set(ids) : await inTurns(keysOfAll(cardsOf(past), cardsOf(now)))
  const cards = await inTurns(targetsOf('card', asked, (id) => [findCard(past, id), findCard(now, id)]))
  const idsOf = (change: Target['change']) => cards.flatMap((card) => (card.change === change ? card.id : []))
  const moved = await readMoved(live.database, boardId, { gone: idsOf('created'), come: idsOf('removed') })
  const expunged = await readExpunged(live.database, boardId, position, idsOf('removed'))
  const left = new Map([
    ...[...expunged].map((id) => [id, 'expunged'] as const),
    ...[...moved].map((id) => [id, 'moved'] as const),
  ])
  const kept = cards.filter(({ id }) => !left.has(id))
  const notFound = (ids ? [...asked] : []).filter((id) => !findCard(past, id) && !findCard(now, id))
  const groups = ids ? await inTurns(groupsOfCards(now, past, kept)) : await groupsOfBoard(now, past, left)
  return { targets: [...groups, ...kept], left: [...left].map(([id, reason]) => ({ id, reason })), notFound }
}

type PastAndNow = (id: string) => [past: SharedMap | null, now: SharedMap | null]

function* targetsOf(type: Target['type'], ids: Iterable<string>, find: PastAndNow): Steps<Target[]> {
  const targets: Target[] = []
  for (const id of ids) {
    const target = yield* targetOf(type, id, ...find(id))
    if (target) targets.push(target)
    yield
  }
  return targets
}

function* targetOf(
  type: Target['type'],
  id: string,
  past: SharedMap | null,
  now: SharedMap | null,
): Steps<Target | null> {
  if (!past) return now && { type, id, change: 'removed', values: new Map() }
  const names = now ? yield* differingFields(past, now) : [...past.keys()]
  if (now && names.length === 0) return null
  const values = new Map(names.map((name) => [name, past.has(name) ? past : null]))
  return { type, id, change: now ? 'changed' : 'created', values }
}

async function groupsOfBoard(now: Y.Doc, past: Y.Doc, left: ReadonlyMap<string, unknown>): Promise<Target[]> {
  const ids = await inTurns(keysOfAll(groupsOf(past), groupsOf(now)))
  const found = await inTurns(targetsOf('group', ids, (id) => [findGroup(past, id), findGroup(now, id)]))
  // Cards that stay, although they were not on the board, keep their groups.
  const used = new Set([...left.keys()].map((id) => findCard(now, id)?.get('group_id')))
  return found.filter(({ change, id }) => !(change === 'removed' && used.has(id)))
}

/** The groups that the cards were in, as far as they are gone. Other groups are left as they are. */
function groupsOfCards(now: Y.Doc, past: Y.Doc, cards: Target[]): Steps<Target[]> {
  const named = new Set(cards.map(({ id }) => findCard(past, id)?.get('group_id')))
  const gone = [...named].filter((id) => typeof id === 'string' && !findGroup(now, id)) as string[]
  return targetsOf('group', gone, (id) => [findGroup(past, id), null])
}
