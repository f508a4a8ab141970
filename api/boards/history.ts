/** `GET /boards/{id}/history`: what changed on a board, and who changed it. */
import Type, { type Static } from 'typebox'
import type { Entry, EntryQuery, Place } from '../../collab/history/entries.ts'
import { readHistory } from '../../collab/history/list.ts'
import type { Reader } from '../../collab/history/past.ts'
import { badRequest } from '../../core/errors.ts'
import { namesOf } from '../../sql/accounts/session-users.ts'
import type { Database } from '../../sql/database.ts'
import { parseTime } from '../http/feed.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { boardId, boardParams, cardId, cursor, cursorPage, pageQuery } from '../http/schemas.ts'
import { presentSessionUser, sessionUser } from '../http/session-user.ts'
import { flag, id, integer, list, named, nullable, object, oneOf, text, time } from '../http/vocabulary.ts'
import { pastReader } from './past.ts'

const ways = ['editor', 'api', 'agent', 'import', 'move', 'unknown'] as const

export const HistoryEntry = named('HistoryEntry', 'A change of a board.', {
  board_id: boardId,
  position: integer('Position of the board after the change, for `as_of`.'),
  before: integer('Position of the board before the change, for `as_of`.'),
  at: time('When the change was made; for a burst of edits, the last of them.'),
  began_at: time('When it began. A burst of edits by an editor is one entry, and takes a minute at most.'),
  by: oneOf(
    ways,
    'How it was made. `agent`: a request of a service account or a connected application. `unknown`: an older version did not record it.',
  ),
  actors: list(
    object('An account.', {
      user_id: id('Id of the account.'),
      display_name: nullable(text('Its name. Null when the account was deleted, or has none.')),
      guest: Type.Optional(flag('Present and true for a guest who came by a link.')),
      session_user: sessionUser,
    }),
    'Who made it. Several accounts when their edits arrived at the same moment.',
  ),
  action: nullable(text('For a request: its action, such as `card.create`.')),
  request_id: nullable(text('For a request: its id, as in the header `x-request-id`.')),
  operation_id: nullable(
    id('For a request: the id of its operation. A move has the same one on both boards.'),
  ),
  token_ids: list(id('Id.'), 'Tokens or sessions that were used. Empty for a guest.'),
  other_board_id: nullable(boardId),
  counts: object('How many cards and groups changed.', {
    added: integer('Cards added.'),
    changed: integer('Cards changed.'),
    removed: integer('Cards removed.'),
    groups: integer('Groups added, changed or removed.'),
  }),
  card_ids: list(cardId, 'The first 100 of the cards.'),
  fields: list(text('Name of a field.'), 'Fields that were changed. `*`: the whole card was replaced.'),
  summary: text('The change in a sentence.'),
})

export const historyQuery = {
  since: Type.Optional(text('Changes at or after this time only. RFC 3339.', { format: 'date-time' })),
  until: Type.Optional(text('Changes at or before this time only. RFC 3339.', { format: 'date-time' })),
  actor: Type.Optional(id('Changes by this account only.')),
  cursor,
  limit: pageQuery.limit,
}

export const historyPage = cursorPage({
  board_id: boardId,
  entries: list(HistoryEntry, 'The entries of this page. A page may have fewer entries than `limit`.'),
  kept_since: time('The first moment of the board that is kept and that you may see.'),
})

export const listHistory = route('GET /boards/:id/history', 'read', {
  summary: 'List the changes of a board, newest first.',
  description:
    'One entry for each request, and one for each burst of edits by an editor. Members of the workspace see all that is kept; a guest needs the history to be shared.',
  schemas: {
    params: boardParams,
    query: Type.Object({
      ...historyQuery,
      card_id: Type.Optional(text('Changes of this card only.', { maxLength: 64 })),
    }),
  },
  answers: { 200: historyPage },
  refuses: ['forbidden'],
  opensDocument: true,
  async handle({ database, live }, { principal, params, query }) {
    const before = query.cursor === undefined ? null : placeOf(params.id, query.cursor)
    const reader = await pastReader(database, principal.userId, params.id)
    const asked = { ...entryQueryOf(query), before, card: query.card_id ?? null }
    const { entries, next, firstAt } = await readHistory(live, params.id, asked, reader)
    return {
      body: {
        board_id: params.id,
        entries: await presentEntries(
          database,
          reader,
          entries.map((entry) => ({ ...entry, boardId: params.id })),
        ),
        kept_since: new Date(firstAt).toISOString(),
        limit: asked.limit,
        has_more: next !== null,
        next_cursor: next && `${params.id}|${next.seq}.${next.index}`,
      },
    }
  },
})

export function entryQueryOf(
  query: Static<Type.TObject<typeof historyQuery>>,
): Omit<EntryQuery, 'before' | 'card'> {
  return {
    since: timeOf(query.since, 'since')?.getTime() ?? 0,
    until: timeOf(query.until, 'until')?.getTime() ?? Number.MAX_SAFE_INTEGER,
    actor: query.actor?.toLowerCase() ?? null,
    limit: pageOf(query).limit,
  }
}

export function timeOf(given: string | undefined, name: string): Date | null {
  const at = given === undefined ? null : parseTime(given)
  if (given !== undefined && !at)
    throw badRequest(`${name} must be an RFC 3339 time such as 2026-01-31T09:00:00.000Z.`)
  return at
}

function placeOf(board: string, given: string): Place {
  const [, of, seq, index] = /^([^|]+)\|(\d{1,15})\.(\d{1,9})$/.exec(given) ?? []
  if (of !== board) throw badRequest('cursor must be next_cursor of an earlier page of this board’s history.')
  return { seq: Number(seq), index: Number(index) }
}

export type EntryOfBoard = Entry & { boardId: string }

/** Names are read when they are shown: the history has ids only. A board that the caller can't see is not named. */
export async function presentEntries(
  database: Database,
  { account, since }: Reader,
  entries: EntryOfBoard[],
) {
  const accounts = [...new Set(entries.flatMap((entry) => entry.accounts))]
  const others = [...new Set(entries.flatMap(({ other }) => other ?? []))]
  const [names, boards] = await Promise.all([
    database.asSystem((tx) => namesOf(tx, accounts)),
    database.asUser(
      account,
      (tx) => tx<{ id: string }[]>`select id from boards where id = any (${others}::uuid[])`,
    ),
  ])
  const visible = new Set(boards.map(({ id }) => id))
  const shown = entries.map((entry) => presentEntry(entry, names, visible))
  return since === null ? shown : shown.map((entry) => ({ ...entry, token_ids: [] }))
}

function presentEntry(entry: EntryOfBoard, names: Awaited<ReturnType<typeof namesOf>>, visible: Set<string>) {
  const { accounts, counts, other } = entry
  const actors = accounts.map((user_id) => {
    const { name = null, externalId = null, isGuest = false } = names.get(user_id) ?? {}
    const shown = { ...presentSessionUser(externalId, name), ...(isGuest ? { guest: true } : {}) }
    return { user_id, display_name: name, ...shown }
  })
  const by = wayOf(entry)
  return {
    board_id: entry.boardId,
    position: entry.position,
    before: entry.first.seq - 1,
    at: new Date(entry.at).toISOString(),
    began_at: new Date(entry.beganAt).toISOString(),
    ...{ by, actors },
    action: entry.action ?? null,
    request_id: entry.request ?? null,
    operation_id: entry.op ?? null,
    token_ids: entry.tokens ?? [],
    other_board_id: other && visible.has(other) ? other : null,
    counts,
    card_ids: entry.cards,
    fields: entry.fields,
    summary: summaryOf(
      entry,
      actors.map(({ display_name }) => display_name ?? 'A deleted user'),
      by,
    ),
  }
}

function wayOf({ by, action, agent }: Entry): (typeof ways)[number] {
  if (by !== 'api') return by
  if (action?.endsWith('.import')) return 'import'
  return agent === undefined ? 'api' : 'agent'
}

const howOf = {
  editor: '',
  unknown: '',
  api: ' through the API',
  agent: ' as an agent',
  import: ' by an import',
  move: ' by a move between boards',
}

/** `Ada added 3 cards and changed 1 card (title, x, y) through the API.` */
function summaryOf({ counts, fields }: Entry, names: string[], by: (typeof ways)[number]): string {
  const some = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
  const named = fields.filter((name) => name !== '*').slice(0, 5)
  const parts = [
    counts.added > 0 ? `added ${some(counts.added, 'card')}` : '',
    counts.changed > 0
      ? `changed ${some(counts.changed, 'card')}${named.length > 0 ? ` (${named.join(', ')})` : ''}`
      : '',
    counts.removed > 0 ? `removed ${some(counts.removed, 'card')}` : '',
    counts.groups > 0 ? `changed ${some(counts.groups, 'group')}` : '',
  ].filter((part) => part !== '')
  const what = parts.length > 0 ? joined(parts) : 'changed nothing that is left'
  return `${names.length > 0 ? joined(names) : 'Somebody'} ${what}${howOf[by]}.`
}

const joined = (list: string[]) =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)!}`
