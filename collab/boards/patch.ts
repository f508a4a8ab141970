/** Changes cards, for the API. */
import type * as Y from 'yjs'
import { cardFields, isCardId, type VersionedCard } from '../../core/card.ts'
import { badRequest } from '../../core/errors.ts'
import type { Steps } from '../../platform/work/loop-turn.ts'
import { requireWritable } from '../access.ts'
import { findCard, readContent } from '../canvas/canvas.ts'
import { MovedOn } from '../commit/refusal.ts'
import type { BuiltWrite, WriteRequest, Written } from '../commit/write-request.ts'
import type { BoardHead } from '../log/log.ts'
import { Draft, mergeSame, type CardPatch } from './build.ts'
import { buildChecked, missingFrom, presentConflicts, type Outcome } from './conditions.ts'
import { requireGroup } from './group-references.ts'
import { claimsOf, indexEdits, type Carrier } from './identifiers.ts'
import { openIndexed, requireIndexed } from './indexed-cards.ts'
import { showLive, type LiveBoards } from './live.ts'
import { filesToTake, requireAlive, type NamedFiles } from './named-files.ts'
import { BodyPlans } from './plan-bodies.ts'
import { catchUp, presentWritten } from './read.ts'

interface PatchRequest {
  account: string
  boardId: string
  patches: CardPatch[]
  files: NamedFiles
}

/** Changes cards. */
export async function patchCards(live: LiveBoards, request: PatchRequest): Promise<Outcome> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const patches = mergeSame(request.patches)
  const bodies = new BodyPlans(live.pool, account)
  let built: (Built & { conflicts: VersionedCard[] }) | null = null
  const write = (document: Y.Doc, from: Pick<WriteRequest, 'reads' | 'restsOn'>): Promise<Written> =>
    live.queue.write(boardId, {
      account,
      ...from,
      *build(head) {
        if (from.restsOn) requireIndexed(live, boardId)
        built = yield* buildChecked(document, patches, (refused) => {
          const left = patches.filter(({ id }) => !refused.has(id))
          return buildPatches(document, { request, patches: left, bodies, head })
        })
        return built.write
      },
    })
  const inDocument = () =>
    live.documents.withDocument(boardId, async ({ document }) => {
      if (patches.some(({ change }) => change.identifiers?.length)) await indexEdits(live, boardId)
      else if (patches.some(({ change }) => typeof change.group_id === 'string')) await catchUp(live, boardId)
      const reads = new Set(patches.map(({ id }) => id))
      return bodies.write(document, patches, () => write(document, { reads }))
    })
  const written = (await inIndex(live, boardId, patches, write)) ?? (await inDocument())
  const { cards: changed, conflicts } = built!
  const order = new Map(request.patches.map(({ id }, at) => [id, at]))
  for (const cards of [changed, conflicts]) cards.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
  return {
    live: await showLive(live, boardId, written.seq),
    cards: await presentWritten(live, account, changed, written),
    conflicts: await presentConflicts(live, request, conflicts),
    notFound: missingFrom([...changed, ...conflicts], [...order.keys()]),
  }
}

/**
 * Changes cards of a board that is not in memory without loading it.
 *
 * @returns null when that takes the document. Then nothing is written
 */
async function inIndex(
  live: LiveBoards,
  boardId: string,
  patches: CardPatch[],
  write: (document: Y.Doc, from: Pick<WriteRequest, 'reads' | 'restsOn'>) => Promise<Written>,
): Promise<Written | null> {
  // The edits of a text refer to its items.
  if (patches.some(({ change }) => change.body !== undefined)) return null
  const ids = patches.map(({ id }) => id).filter(isCardId)
  const groups = patches.flatMap(({ change }) => change.group_id ?? [])
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const indexed = await openIndexed(live, boardId, ids, groups)
    if (!indexed) return null
    try {
      return await write(indexed.document, { reads: 'nothing', restsOn: indexed.restsOn })
    } catch (error) {
      if (!(error instanceof MovedOn)) throw error
    } finally {
      indexed.document.destroy()
    }
  }
  return null
}

/** Others may change the same cards between the reading of the index and the commit. */
const maxAttempts = 5

interface Built {
  write: BuiltWrite
  cards: VersionedCard[]
}

function* buildPatches(
  document: Y.Doc,
  {
    request,
    patches,
    bodies,
    head,
  }: { request: PatchRequest; patches: CardPatch[]; bodies: BodyPlans; head: BoardHead },
): Steps<Built> {
  for (const [at, { id, change }] of request.patches.entries()) {
    const shared = findCard(document, id)
    if (shared) requireAlive(request.files, at, change, shared)
  }
  const draft = new Draft(head)
  const carriers: Carrier[] = []
  const found: CardPatch[] = []
  const cards: VersionedCard[] = []
  for (const patch of patches) {
    yield
    const { id, change } = patch
    const shared = findCard(document, id)
    if (!shared) continue
    requireGroup(document, change)
    found.push(patch)
    if (change.identifiers)
      carriers.push({ id, identifiers: change.identifiers, before: readContent(shared).identifiers })
    const card = draft.patchCard(shared, patch, bodies)
    if (patch.bodyBase !== undefined) requireRoom(card.content.body, request, id)
    cards.push(card)
  }
  draft.write.claims = claimsOf(carriers)
  draft.write.files = yield* filesToTake(request.files.away, found)
  return { write: draft.finish(), cards }
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
