/**
 * Reads, creates, changes and removes the groups of a board, for the API. Reads come from its document; writes go
 * through the commit path.
 */
import type * as Y from 'yjs'
import { ServiceError } from '../../core/errors.ts'
import { groupDefaults, type Group, type GroupChange } from '../../core/group.ts'
import { limits } from '../../core/limits.ts'
import { requireWritable } from '../access.ts'
import { Draft } from './build.ts'
import {
  cardsOf,
  findCard,
  findGroup,
  groupsOf,
  readContent,
  readGroupContent,
  type SharedMap,
} from '../canvas/canvas.ts'
import { anchorsOf } from '../canvas/anchors.ts'
import { newIds } from '../canvas/ids.ts'
import { inTurns, type Steps } from '../../platform/work/loop-turn.ts'
import { sortInSteps } from '../../platform/work/sort-in-steps.ts'
import { bytesOf } from '../log/log.ts'
import { showLive, type LiveBoards } from './live.ts'
import { cardRow, groupRow, interiorOf, versioned } from '../canvas/project.ts'
import { catchUp } from './read.ts'

export interface PresentedGroup extends Group {
  id: string
  card_count: number
  created_at: string | null
}

interface Request {
  account: string
  boardId: string
}

/** Sorted by creation time, then id. */
export async function readGroups(
  live: LiveBoards,
  boardId: string,
  page: { limit: number; offset: number },
): Promise<{ groups: PresentedGroup[]; total: number }> {
  await catchUp(live, boardId)
  return live.documents.withDocument(boardId, async ({ document }) => {
    const groups = await inTurns(presentGroups(document))
    return { groups: groups.slice(page.offset, page.offset + page.limit), total: groups.length }
  })
}

/** All groups, sorted by creation time, then id. Groups may change between the steps. */
export function* presentGroups(document: Y.Doc): Steps<PresentedGroup[]> {
  const cards = yield* cardsByGroup(document)
  const groups: PresentedGroup[] = []
  for (const id of [...groupsOf(document).keys()]) {
    yield
    const shared = findGroup(document, id)
    if (shared) groups.push(present(id, shared, cards.get(id)))
  }
  return yield* sortInSteps(
    groups,
    (a, b) => byText(a.created_at ?? '', b.created_at ?? '') || byText(a.id, b.id),
  )
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** @param request.now the group's creation time */
export async function createGroup(
  live: LiveBoards,
  request: Request & { change: GroupChange & { name: string }; now: Date },
): Promise<{ group: PresentedGroup; live: boolean }> {
  const { boardId, account } = request
  const id = newIds(1)[0]!
  const group: Group = { ...groupDefaults, ...request.change }
  const created_at = request.now.toISOString()
  const written = await live.queue.write(boardId, {
    account,
    reads: 'nothing',
    build(head) {
      const draft = new Draft(head)
      draft.builder.createGroup(id, { ...group, created_at })
      const write = draft.finish()
      write.groups.push(groupRow(id, group))
      write.grows = bytesOf(write.updates)
      return write
    },
  })
  return {
    group: { id, ...group, card_count: 0, created_at },
    live: await showLive(live, boardId, written.seq),
  }
}

/** @throws ServiceError `not_found` when the board has no such group */
export async function patchGroup(
  live: LiveBoards,
  request: Request & { id: string; change: GroupChange },
): Promise<{ group: PresentedGroup; live: boolean }> {
  const { id, change } = request
  let group: PresentedGroup | null = null
  const shown = await editGroup(live, request, function* (draft, document, shared) {
    draft.setFields(shared, change)
    group = { ...present(id, shared, (yield* cardsByGroup(document)).get(id)), ...change }
    draft.write.groups.push(groupRow(id, group))
  })
  return { group: group!, live: shown }
}

/**
 * Removes a group. Its cards stay on the board without a group.
 *
 * @throws ServiceError `not_found` when the board has no such group, `conflict` when it has too many cards
 */
export async function removeGroup(
  live: LiveBoards,
  request: Request & { id: string },
): Promise<{ group: PresentedGroup; ungrouped: number; live: boolean }> {
  const { id } = request
  let group: PresentedGroup | null = null
  const shown = await editGroup(live, request, function* ({ builder, write }, document, shared) {
    const cards = (yield* cardsByGroup(document)).get(id) ?? []
    if (cards.length > limits.cardsPerCommit) throw tooManyCards(cards.length)
    group = present(id, shared, cards)
    for (const cardId of cards) {
      yield
      const card = findCard(document, cardId)
      if (!card) continue // an editor has removed it meanwhile
      const plan = builder.removeKey(card, 'group_id')
      const content = { ...readContent(card), group_id: null }
      const planned = new Map(plan ? [['group_id', plan]] : [])
      const anchors = anchorsOf(card, content, planned)
      write.rows.push(cardRow(versioned(cardId, content, interiorOf(card)), anchors))
      builder.nextChange()
    }
    builder.removeKey(groupsOf(document), id)
    write.groups.push({ id, gone: true })
  })
  return { group: group!, ungrouped: group!.card_count, live: shown }
}

/** Writes to an existing group. `edit` may be called again with a newer state. @returns `live` */
async function editGroup(
  live: LiveBoards,
  { boardId, account, id }: Request & { id: string },
  edit: (draft: Draft, document: Y.Doc, shared: SharedMap) => Steps<void>,
): Promise<boolean> {
  await requireWritable(live.database, account, boardId)
  const written = await live.documents.withDocument(boardId, async ({ document }) => {
    await catchUp(live, boardId)
    return live.queue.write(boardId, {
      account,
      reads: 'board',
      *build(head) {
        const shared = requireGroup(document, id)
        const draft = new Draft(head)
        yield* edit(draft, document, shared)
        return draft.finish()
      },
    })
  })
  return showLive(live, boardId, written.seq)
}

const tooManyCards = (count: number) =>
  new ServiceError(
    'conflict',
    `The group has ${count} cards, and one request ungroups at most ${limits.cardsPerCommit}. Take some cards out of the group first.`,
  )

function requireGroup(document: Y.Doc, id: string): SharedMap {
  const shared = findGroup(document, id)
  if (!shared) throw new ServiceError('not_found', 'No such group on this board.')
  return shared
}

function present(id: string, shared: SharedMap, { length }: string[] = []): PresentedGroup {
  const created_at = timestamp(shared.get('created_at'))
  return { id, ...readGroupContent(shared), card_count: length, created_at }
}

/** Editors may store any value, so it is checked. */
function timestamp(value: unknown): string | null {
  const at = typeof value === 'string' || typeof value === 'number' ? new Date(value) : null
  return at && at.getTime() >= 0 && at.getUTCFullYear() <= 9999 ? at.toISOString() : null
}

/** The ids of the cards in each group. */
function* cardsByGroup(document: Y.Doc): Steps<Map<unknown, string[]>> {
  const cards = new Map<unknown, string[]>()
  for (const id of [...cardsOf(document).keys()]) {
    yield
    cards.getOrInsert(findCard(document, id)?.get('group_id'), []).push(id)
  }
  return cards
}
