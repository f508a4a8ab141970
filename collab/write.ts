/** The API's door to the commit path: cards created, changed and removed on a board, open or not. */
import { randomBytes, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import {
  boundNumber,
  fileFields,
  isCardId,
  isKind,
  numberDefaults,
  presentCard,
  textFields,
  unknownKind,
  type CardChange,
  type CardContent,
  type CardTimes,
  type TextField,
} from '../core/card.ts'
import { ServiceError } from '../core/errors.ts'
import { arrangeNew } from '../core/layout/arrange.ts'
import type { LayoutName } from '../core/layout/arrangement.ts'
import { FreeSpace, boundingBox } from '../core/layout/free-space.ts'
import { requireWritable } from './access.ts'
import {
  cardsOf,
  cardsRoot,
  findCard,
  findGroup,
  readContent,
  readShapes,
  sharedText,
  type SharedMap,
} from './canvas.ts'
import type { BuiltWrite, Written } from './board-queue.ts'
import { copyInto, planBody, storedFields, UpdateBuilder, type CopyChanges } from './edit.ts'
import { fileKeysOf } from './file-references.ts'
import { claimsOf, indexEdits, type Carrier } from './identifiers.ts'
import { showLive, type LiveBoards } from './live.ts'
import type { BoardHead } from './log.ts'
import { cardRow, interiorOf } from './project.ts'
import { cardTimes, catchUp, safeContent } from './read.ts'
import { sourcesIn } from './sources.ts'

export type PresentedCard = Record<string, unknown>

export interface NewCard {
  change: CardChange
  /** The card as it was when it was removed, whole: what `change` does not say is taken from it. */
  removed?: Uint8Array
}

export interface CardPatch {
  id: string
  change: CardChange
  /** The text that the client's edit of `body` started from. */
  bodyBase?: string
}

export const wholeCard = { props: true, identifiers: true }

/**
 * Creates cards. With a layout all of them are arranged, as one block in free space; else those without both coordinates
 * are placed there, one after the other. Cards that need nothing of the board go straight to the commit.
 */
export async function createCards(
  live: LiveBoards,
  request: {
    account: string
    boardId: string
    cards: NewCard[]
    layout?: LayoutName | undefined
    /** What is to be kept with the commit of the cards of these ids; see `BuiltWrite.made`. */
    remember?(ids: string[]): string[]
    files?: AwayFiles
    /** As `urlSource` and `identifierSource` write them: refused with `conflict` when a card of the board has one. */
    newSources?: ReadonlySet<string>
  },
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  const { boardId, account, layout, newSources } = request
  const placed = layout === undefined && request.cards.every(({ change }) => isPlaced(change))
  const identified = request.cards.some(({ change, removed }) => removed || change.identifiers?.length)
  if (!placed || identified || request.cards.some(({ change }) => change.group_id))
    await requireWritable(live.database, account, boardId)
  if (identified) await indexEdits(live, boardId)
  const cards = cardsToCreate(request.cards)
  const groups = [...new Set(cards.flatMap((card) => groupNamedBy(card) ?? []))]
  const mirror = placed && groups.length > 0 ? await mirroredGroups(live, boardId, groups) : null
  let contents: CardContent[] = []

  const write = async (from: { mirror: GroupMirror | null; document: boolean }): Promise<Written> => {
    const lease = from.document ? await live.documents.lease(boardId) : null
    try {
      if (lease && groups.length > 0) await catchUp(live, boardId)
      return await live.queue.write(boardId, {
        op: randomUUID(),
        account,
        reads: !placed || newSources ? 'board' : lease ? noCards : from.mirror ? 'position' : 'nothing',
        build(head) {
          if (from.mirror && from.mirror.seq !== head.seq) throw movedOn
          if (newSources && sourcesIn(lease!.board.document, newSources).size > 0) throw isThere
          const isGroup = (id: string) =>
            lease ? findGroup(lease.board.document, id) !== null : (from.mirror?.ids.has(id) ?? false)
          const space = lease && !placed ? occupiedSpace(lease.board.document) : null
          const built = buildCreates(head, settleGroups(cards, isGroup), space, layout)
          contents = built.contents
          if (request.remember) built.write.made = request.remember(cards.map(({ id }) => id))
          built.write.files = filesToTake(request.files, cards)
          return built.write
        },
      })
    } finally {
      lease?.release()
    }
  }
  const needsDocument = !placed || newSources !== undefined || (groups.length > 0 && mirror === null)
  const written = await write({ mirror, document: needsDocument }).catch((error: unknown) => {
    if (error === movedOn) return write({ mirror: null, document: true })
    throw error
  })
  const shown = await showLive(live, boardId, written.seq)
  const at = new Date(written.at).toISOString()
  return {
    cards: cards.map(({ id }, n) =>
      presentCard(id, safeContent(contents[n]!), { created_at: at, updated_at: at }, wholeCard),
    ),
    live: shown,
  }
}

/** Changes cards. Cards that are not on the board are named. */
export async function patchCards(
  live: LiveBoards,
  request: { account: string; boardId: string; patches: CardPatch[]; files?: AwayFiles },
): Promise<{ cards: PresentedCard[]; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const patches = mergeSame(request.patches)
  let changed: { id: string; content: CardContent }[] = []
  let notFound: string[] = []
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    if (patches.some(({ change }) => change.identifiers?.length)) await indexEdits(live, boardId)
    else if (patches.some(({ change }) => typeof change.group_id === 'string')) await catchUp(live, boardId)
    return live.queue.write(boardId, {
      op: randomUUID(),
      account,
      reads: new Set(patches.map(({ id }) => id)),
      build(head) {
        changed = []
        notFound = []
        const builder = new UpdateBuilder(head.apiClient, head.apiClock)
        const write = emptyWrite()
        const carriers: Carrier[] = []
        const found: CardPatch[] = []
        for (const patch of patches) {
          const shared = findCard(document, patch.id)
          if (!shared) {
            notFound.push(patch.id)
            continue
          }
          requireGroup(document, patch.change)
          found.push(patch)
          if (patch.change.identifiers) {
            const before = readContent(shared).identifiers
            carriers.push({ id: patch.id, identifiers: patch.change.identifiers, before })
          }
          const { content, interior } = buildPatch(builder, shared, patch)
          changed.push({ id: patch.id, content })
          write.rows.push(cardRow(patch.id, content, interior))
          if (patch.change.z !== undefined) write.top = Math.max(write.top ?? -Infinity, content.z)
        }
        write.claims = claimsOf(carriers)
        write.files = filesToTake(request.files, found)
        return finish(write, builder)
      },
    })
  })
  const shown = await showLive(live, boardId, written.seq)
  const order = new Map(request.patches.map(({ id }, at) => [id, at]))
  changed.sort((a, b) => order.get(a.id)! - order.get(b.id)!)
  return {
    cards: changed.map(({ id, content }) =>
      presentCard(id, safeContent(content), timesOf(written, id), wholeCard),
    ),
    notFound,
    live: shown,
  }
}

/** Removes cards and gives each back whole, with a token under which the rest of it is kept. */
export async function removeCards(
  live: LiveBoards,
  request: { account: string; boardId: string; ids: string[] },
): Promise<{ cards: PresentedCard[]; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  await requireWritable(live.database, account, boardId)
  const ids = [...new Set(request.ids)]
  const times = await cardTimes(live.database, boardId, ids.filter(isCardId))
  let removed: { id: string; token: string; content: CardContent }[] = []
  let notFound: string[] = []
  const written = await live.documents.withDocument(boardId, ({ document }) =>
    live.queue.write(boardId, {
      op: randomUUID(),
      account,
      reads: new Set(ids),
      build(head) {
        removed = []
        notFound = []
        const builder = new UpdateBuilder(head.apiClient, head.apiClock)
        const write = emptyWrite()
        for (const id of ids) {
          const shared = findCard(document, id)
          if (!shared) {
            notFound.push(id)
            continue
          }
          const token = randomUUID()
          removed.push({ id, token, content: readContent(shared) })
          write.removed.push({ token, id, state: copyInto(shared, removedRoot, removedRoot, 1, 0).update })
          write.rows.push({ id, gone: true })
          builder.removeKey(cardsOf(document), id)
        }
        return finish(write, builder)
      },
    }),
  )
  const shown = await showLive(live, boardId, written.seq)
  return {
    cards: removed.map(({ id, token, content }) => ({
      ...presentCard(
        id,
        safeContent(content),
        times.get(id) ?? { created_at: null, updated_at: null },
        wholeCard,
      ),
      restore_token: token,
    })),
    notFound,
    live: shown,
  }
}

// ---- what a write refers to

/** Files that the account can read and the board's workspace does not have. */
export type AwayFiles = ReadonlySet<string>

/** Those that are named; of a card that comes back, all that it may name. */
export function filesToTake(
  away: AwayFiles = new Set(),
  cards: (Pick<CardToCreate, 'change'> & { kept?: SharedMap | null })[],
): string[] {
  const named = cards.flatMap(({ change, kept }) => [
    ...fileFields.flatMap((field) => change[field] ?? []).filter((key) => away.has(key)),
    ...(kept ? fileKeysOf(kept.toJSON()) : []),
  ])
  return [...new Set(named)]
}

/** The group that a card would be in: as it is written, or as it was kept. */
const groupNamedBy = ({ change, kept }: CardToCreate): string | null =>
  change.group_id === undefined && kept ? readContent(kept).group_id : (change.group_id ?? null)

/** A `group_id` must be a group on the board; of a card that comes back one that is gone is dropped. */
export function settleGroups(cards: CardToCreate[], isGroup: (id: string) => boolean): CardToCreate[] {
  return cards.map((card) => {
    const id = groupNamedBy(card)
    if (id === null || isGroup(id)) return card
    if (!card.kept) throw unknownGroup(id)
    return { ...card, change: { ...card.change, group_id: null } }
  })
}

/** Those of some groups that a board has, at a position of its log. */
interface GroupMirror {
  seq: number
  ids: ReadonlySet<string>
}

/** For a board that need not be loaded to know its groups. Null when it is in memory, or its mirror is behind. */
async function mirroredGroups(live: LiveBoards, boardId: string, ids: string[]): Promise<GroupMirror | null> {
  if (live.documents.find(boardId)) return null
  const [found] = await live.database.asSystem(
    (tx) => tx<{ seq: number; complete: boolean; known: string[] }[]>`
      select d.seq, d.indexed_seq = d.seq as complete, array(
        select g.group_id
        from group_index g
        where g.board_id = d.board_id and g.group_id = any (${ids}) and g.deleted_at is null
      ) as known
      from board_documents d
      where d.board_id = ${boardId}`,
  )
  return found?.complete ? { seq: found.seq, ids: new Set(found.known) } : null
}

/** The board has changed since its mirror was read. */
const movedOn = new Error('The board has moved on.')

/** Another process has brought it meanwhile. */
const isThere = new ServiceError('conflict', 'A card of this board comes from there already.')

/** Of a write that looks at the groups of a document and at no card. */
const noCards: ReadonlySet<string> = new Set()

export function cardsToCreate(cards: NewCard[]): CardToCreate[] {
  const ids = newIds(cards.length)
  return cards.map(({ change, removed }, n) => ({
    id: ids[n]!,
    change,
    kept: removed ? openRemoved(removed, change) : null,
  }))
}

const removedRoot = 'card'

/** A removed card as it was. Its kind stays, or becomes one that the API creates. */
function openRemoved(state: Uint8Array, change: CardChange): SharedMap {
  const document = new Y.Doc()
  Y.applyUpdate(document, state)
  const kept = document.getMap(removedRoot).get(removedRoot)
  if (!(kept instanceof Y.Map)) throw new Error('What was kept of a removed card is not a card.')
  const { kind } = readContent(kept as SharedMap)
  if (change.kind !== undefined && change.kind !== kind && !isKind(change.kind)) throw unknownKind('', kind)
  return kept as SharedMap
}

// ---- building

export function emptyWrite(): BuiltWrite {
  return { updates: [], used: 0, rows: [], groups: [], adds: 0, top: null, removed: [] }
}

export function finish(write: BuiltWrite, builder: UpdateBuilder): BuiltWrite {
  const update = builder.build()
  if (update) write.updates.push(update)
  write.used += builder.used
  return write
}

export interface CardToCreate {
  id: string
  change: CardChange
  /** Of a card that comes back: what it was. */
  kept: SharedMap | null
}

export function buildCreates(
  head: BoardHead,
  cards: CardToCreate[],
  space: FreeSpace | null,
  layout: LayoutName | undefined,
): { write: BuiltWrite; contents: CardContent[] } {
  const write = emptyWrite()
  const contents: CardContent[] = []
  let top = head.topZ
  let builder = new UpdateBuilder(head.apiClient, head.apiClock)
  const seats = layout && space ? arrangeNew(layout, cards.map((card) => ({ id: card.id, ...shapeOf(card) })), space) : null // prettier-ignore
  // Cards whose place is given keep it, so the others have to know of it first.
  if (space && !seats)
    for (const card of cards) if (isPlaced(card.change)) space.occupy(boundingBox(shapeOf(card)))
  for (const { id, change, kept } of cards) {
    const given = { ...change, ...seats?.get(id) }
    if (space && !isPlaced(given)) {
      const { w, h, rotation } = shapeOf({ change, kept })
      Object.assign(given, space.place({ w, h, rotation }))
    }
    given.z ??= boundNumber.z(top + 1)
    top = Math.max(top, given.z)
    write.adds += 1
    if (kept) {
      finish(write, builder)
      const clock = head.apiClock + write.used
      const { update, used, content, interior } = buildRestore(head.apiClient, clock, id, given, kept)
      write.updates.push(update)
      write.used += used
      builder = new UpdateBuilder(head.apiClient, clock + used)
      contents.push(content)
      write.rows.push({ ...cardRow(id, content, interior), fresh: true })
      continue
    }
    const content = completeContent(given)
    builder.createCard(
      id,
      { ...storedFields(content), rotation: content.rotation || null },
      content.body ?? '',
    )
    contents.push(content)
    write.rows.push({ ...cardRow(id, content, null), fresh: true })
  }
  write.top = top
  write.claims = claimsOf(cards.map(({ id }, n) => ({ id, identifiers: contents[n]!.identifiers })))
  return { write: finish(write, builder), contents }
}

function buildRestore(client: number, clock: number, id: string, change: CardChange, kept: SharedMap) {
  const { body, ...given } = change
  const fields = storedFields(given)
  for (const [key, value] of Object.entries(fields))
    if (isDeepStrictEqual(kept.get(key) ?? null, value)) delete fields[key]
  const changes: CopyChanges = { fields }
  if (body !== undefined && (body ?? '') !== (readContent(kept).body ?? '')) {
    changes.body = body ?? ''
    changes.fields['content'] = null
  }
  const { update, used } = copyInto(kept, cardsRoot, id, client, clock, changes)
  // Read as it will be read, from a document that has only this card.
  const alone = new Y.Doc()
  if (clock > 0) alone.store.clients.set(client, [new Y.GC(Y.createID(client, 0), clock)])
  Y.applyUpdate(alone, update)
  const shared = findCard(alone, id)
  if (!shared) throw new ServiceError('bad_request', 'restore_token does not belong to a card.')
  return { update, used, content: readContent(shared), interior: interiorOf(shared) }
}

export function buildPatch(
  builder: UpdateBuilder,
  shared: SharedMap,
  patch: CardPatch,
): { content: CardContent; interior: unknown } {
  const before = readContent(shared)
  const { body: wanted, ...fields } = patch.change
  for (const [key, value] of Object.entries(storedFields(fields))) {
    if (!isDeepStrictEqual(shared.get(key) ?? null, value)) builder.setField(shared, key, value)
  }
  const content: CardContent = { ...before, ...fields }
  let interior = interiorOf(shared)
  if (wanted !== undefined) {
    const current = sharedText(shared.get('body'))?.toString() ?? ''
    const { edits, body } = planBody(current, wanted ?? '', patch.bodyBase)
    builder.setText(shared, 'body', edits, body)
    content.body = body || null
    if (shared.has('content')) {
      // The rich text is of the old words: its absence tells the editor to make it anew from the body.
      builder.removeKey(shared, 'content')
      interior = interiorOf(shared, 'content')
    }
  }
  return { content, interior }
}

export function requireGroup(document: Y.Doc, change: CardChange): void {
  if (typeof change.group_id === 'string' && findGroup(document, change.group_id) === null)
    throw unknownGroup(change.group_id)
}

function unknownGroup(id: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `group_id must name a group on the same board; ${JSON.stringify(id)} is none.`,
  )
}

export function occupiedSpace(document: Y.Doc): FreeSpace {
  const space = new FreeSpace()
  for (const shape of readShapes(document).values()) space.occupy(boundingBox(shape))
  return space
}

export const isPlaced = (change: CardChange) => change.x !== undefined && change.y !== undefined

const shapeOf = ({ change, kept }: Pick<CardToCreate, 'change' | 'kept'>): CardContent =>
  kept ? { ...readContent(kept), ...change } : completeContent(change)

function completeContent(change: CardChange): CardContent {
  const content = {
    ...emptyTexts,
    body: null,
    size_bytes: null,
    section_header: false,
    props: null,
    identifiers: [],
    ...numberDefaults,
  }
  for (const [field, value] of Object.entries(change))
    if (value !== undefined) (content as Record<string, unknown>)[field] = value
  return { kind: 'note', ...content, body: change.body || null }
}
const emptyTexts = Object.fromEntries(textFields.map((field) => [field, null])) as Record<TextField, null>

/** A card that is named twice gets both changes, the later one winning. */
export function mergeSame(patches: CardPatch[]): CardPatch[] {
  const merged = new Map<string, CardPatch>()
  for (const { id, change, bodyBase } of patches) {
    const earlier = merged.get(id)
    const writesBody = change.body !== undefined
    merged.set(id, {
      id,
      // Its html would show the text that it replaces.
      change: { ...earlier?.change, ...(writesBody ? { html: null } : {}), ...change },
      bodyBase: writesBody ? bodyBase : earlier?.bodyBase,
    })
  }
  return [...merged.values()]
}

export function timesOf(written: Written, id: string): CardTimes {
  const { created, updated } = written.times.get(id) ?? { created: written.at, updated: written.at }
  return { created_at: new Date(created).toISOString(), updated_at: new Date(updated).toISOString() }
}

/** 96 random bits each, in the alphabet of the ids of cards and groups. */
export function newIds(count: number): string[] {
  const bytes = randomBytes(count * 12)
  return Array.from({ length: count }, (_, n) => bytes.toString('base64url', n * 12, n * 12 + 12))
}
