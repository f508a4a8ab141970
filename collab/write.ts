/** The API's door to the commit path: cards created, changed and removed on a board, open or not. */
import { randomBytes, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import {
  numberDefaults,
  presentCard,
  textFields,
  type CardChange,
  type CardContent,
  type CardTimes,
  type TextField,
} from '../core/card.ts'
import { ServiceError } from '../core/errors.ts'
import { FreeSpace, boundingBox } from '../core/layout/free-space.ts'
import {
  cardsOf,
  cardsRoot,
  findCard,
  groupsOf,
  readCards,
  readContent,
  readGroup,
  type SharedMap,
} from './canvas.ts'
import type { BuiltWrite, Written } from './commit.ts'
import { copyInto, planBody, storedFields, UpdateBuilder } from './edit.ts'
import { showLive, type LiveBoards } from './live.ts'
import type { BoardHead } from './log.ts'
import { cardRow, interiorOf } from './project.ts'
import { cardTimes, safeContent } from './read.ts'

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

const wholeCard = { props: true, identifiers: true }

/** Creates cards. Those without both coordinates are placed in free space, one after the other. */
export async function createCards(
  live: LiveBoards,
  request: { account: string; boardId: string; cards: NewCard[] },
): Promise<{ cards: PresentedCard[]; live: boolean }> {
  const { boardId, account } = request
  const ids = newCardIds(request.cards.length)
  const cards = request.cards.map((card, n) => ({ ...card, id: ids[n]! }))
  const placed = cards.every((card) => isPlaced(card.change))
  let contents: CardContent[] = []
  const lease = placed ? null : await live.documents.lease(boardId)
  let written: Written
  try {
    written = await live.queue.write(boardId, {
      op: randomUUID(),
      account,
      reads: placed ? 'nothing' : 'board',
      build(head) {
        const space = lease ? occupiedSpace(lease.board.document) : null
        const built = buildCreates(head, cards, space)
        contents = built.contents
        return built.write
      },
    })
  } finally {
    lease?.release()
  }
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
  request: { account: string; boardId: string; patches: CardPatch[] },
): Promise<{ cards: PresentedCard[]; notFound: string[]; live: boolean }> {
  const { boardId, account } = request
  const patches = mergeSame(request.patches)
  let changed: { id: string; content: CardContent }[] = []
  let notFound: string[] = []
  const written = await live.documents.withDocument(boardId, ({ document }) =>
    live.queue.write(boardId, {
      op: randomUUID(),
      account,
      reads: new Set(patches.map(({ id }) => id)),
      build(head) {
        changed = []
        notFound = []
        const builder = new UpdateBuilder(head.apiClient, head.apiClock)
        const write = emptyWrite()
        for (const patch of patches) {
          const shared = findCard(document, patch.id)
          if (!shared) {
            notFound.push(patch.id)
            continue
          }
          requireGroup(document, patch.change)
          const { content, interior } = buildPatch(builder, shared, patch)
          changed.push({ id: patch.id, content })
          write.rows.push(cardRow(patch.id, content, interior))
          if (patch.change.z !== undefined) write.top = Math.max(write.top ?? -Infinity, content.z)
        }
        return finish(write, builder)
      },
    }),
  )
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
  const ids = [...new Set(request.ids)]
  const times = await cardTimes(live.database, boardId, ids)
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

/** Which of these groups are on the board: by the document if it is in memory, by the mirror otherwise. */
export async function knownGroups(live: LiveBoards, boardId: string, ids: string[]): Promise<Set<string>> {
  const board = live.documents.find(boardId)
  if (board) return new Set(ids.filter((id) => readGroup(board.document, id) !== null))
  if (ids.length === 0) return new Set()
  const rows = await live.database.asSystem(
    (tx) => tx<{ group_id: string }[]>`
      select group_id from group_index where board_id = ${boardId} and group_id = any (${ids}) and deleted_at is null`,
  )
  return new Set(rows.map((row) => row.group_id))
}

// ---- building

const removedRoot = 'card'

function emptyWrite(): BuiltWrite {
  return { updates: [], used: 0, rows: [], adds: 0, top: null, removed: [] }
}

function finish(write: BuiltWrite, builder: UpdateBuilder): BuiltWrite {
  const update = builder.build()
  if (update) write.updates.push(update)
  write.used += builder.used
  return write
}

function buildCreates(
  head: BoardHead,
  cards: (NewCard & { id: string })[],
  space: FreeSpace | null,
): { write: BuiltWrite; contents: CardContent[] } {
  const write = emptyWrite()
  const contents: CardContent[] = []
  let top = head.topZ
  let builder = new UpdateBuilder(head.apiClient, head.apiClock)
  // Cards whose place is given keep it, so the others have to know of it first.
  if (space)
    for (const { change } of cards) if (isPlaced(change)) space.occupy(boundingBox(completeContent(change)))
  for (const { id, change, removed } of cards) {
    const given = { ...change }
    if (space && !isPlaced(change)) {
      const { w, h, rotation } = completeContent(change)
      Object.assign(given, space.place({ w, h, rotation }))
    }
    given.z ??= top + 1
    top = Math.max(top, given.z)
    write.adds += 1
    if (removed) {
      finish(write, builder)
      const clock = head.apiClock + write.used
      const { update, used, content, interior } = buildRestore(head.apiClient, clock, id, given, removed)
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
  return { write: finish(write, builder), contents }
}

function buildRestore(client: number, clock: number, id: string, change: CardChange, state: Uint8Array) {
  const kept = new Y.Doc()
  Y.applyUpdate(kept, state)
  const source = kept.getMap(removedRoot).get(removedRoot)
  if (!(source instanceof Y.Map))
    throw new ServiceError('bad_request', 'restore_token does not belong to a card.')
  let content: CardContent | null = null
  let interior: unknown = null
  const { update, used } = copyInto(source as SharedMap, cardsRoot, id, client, clock, (shared) => {
    const { body: _body, ...fields } = change
    for (const [key, value] of Object.entries(storedFields(fields))) {
      if (value === null || value === undefined) shared.delete(key)
      else if (!isDeepStrictEqual(shared.get(key), value)) shared.set(key, value)
    }
    const current = readContent(shared)
    if (change.body !== undefined && (change.body ?? '') !== (current.body ?? '')) {
      shared.set('body', new Y.Text(change.body ?? ''))
      shared.delete('content')
    }
    content = readContent(shared)
    interior = interiorOf(shared)
  })
  return { update, used, content: content!, interior }
}

function buildPatch(
  builder: UpdateBuilder,
  shared: SharedMap,
  patch: CardPatch,
): { content: CardContent; interior: unknown } {
  const before = readContent(shared)
  const change = { ...patch.change }
  if (change.body !== undefined && change.html === undefined) change.html = null // it would show the old text
  const { body: wanted, ...fields } = change
  for (const [key, value] of Object.entries(storedFields(fields))) {
    if (!isDeepStrictEqual(shared.get(key) ?? null, value)) builder.setField(shared, key, value)
  }
  const content: CardContent = { ...before, ...fields }
  let interior = interiorOf(shared)
  if (wanted !== undefined) {
    const raw = shared.get('body')
    const current = raw instanceof Y.Text ? raw.toString() : ''
    const { edits, body } = planBody(current, wanted ?? '', patch.bodyBase)
    builder.setText(shared, 'body', edits, body)
    content.body = body || null
    if (shared.has('content')) {
      // The rich text is of the old words: its absence tells the editor to make it anew from the body.
      builder.removeKey(shared, 'content')
      const { content: _stale, ...rest } = interior as Record<string, unknown>
      interior = Object.keys(rest).length > 0 ? rest : null
    }
  }
  return { content, interior }
}

function requireGroup(document: Y.Doc, change: CardChange): void {
  if (typeof change.group_id === 'string' && !groupsOf(document).has(change.group_id))
    throw unknownGroup(change.group_id)
}

export function unknownGroup(id: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `group_id must name a group on the same board; ${JSON.stringify(id)} is none.`,
  )
}

function occupiedSpace(document: Y.Doc): FreeSpace {
  const space = new FreeSpace()
  for (const content of readCards(document).values()) space.occupy(boundingBox(content))
  return space
}

const isPlaced = (change: CardChange) => change.x !== undefined && change.y !== undefined

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
function mergeSame(patches: CardPatch[]): CardPatch[] {
  const merged = new Map<string, CardPatch>()
  for (const patch of patches) {
    const earlier = merged.get(patch.id)
    merged.set(
      patch.id,
      earlier ? { ...earlier, ...patch, change: { ...earlier.change, ...patch.change } } : patch,
    )
  }
  return [...merged.values()]
}

function timesOf(written: Written, id: string): CardTimes {
  const { created, updated } = written.times.get(id) ?? { created: written.at, updated: written.at }
  return { created_at: new Date(created).toISOString(), updated_at: new Date(updated).toISOString() }
}

/** 96 random bits each, in the alphabet of card ids. */
function newCardIds(count: number): string[] {
  const bytes = randomBytes(count * 12)
  return Array.from({ length: count }, (_, n) => bytes.toString('base64url', n * 12, n * 12 + 12))
}
