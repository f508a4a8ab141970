/** Named versions of a board: moments that are kept until they are deleted. */
import Type from 'typebox'
import { requireWritable } from '../../collab/access.ts'
import { noVersion, withPast, type Past, type Reader } from '../../collab/history/past.ts'
import {
  claimVersionFile,
  insertVersion,
  writeVersionFile,
  type NamedMoment,
  type VersionFile,
} from '../../collab/history/versions.ts'
import { dropFiles } from '../../collab/log/history.ts'
import { inTrash, notWritable } from '../../core/board.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import type { Database, Transaction } from '../../sql/database.ts'
import type { Principal } from '../../sql/accounts/tokens.ts'
import { currentOperation } from '../../sql/operation.ts'
import { parseTime } from '../http/feed.ts'
import { cutAfter, pageOf } from '../http/page.ts'
import { route, type ApiContext } from '../http/route.ts'
import {
  boardId,
  boardParams,
  createdAt,
  cursor,
  cursorPage,
  deletedAnswer,
  pageQuery,
  uuidPattern,
} from '../http/schemas.ts'
import { id, integer, list, named, nullable, object, text, time } from '../http/vocabulary.ts'
import { trimmedName } from '../boards/fields.ts'
import { asOf, momentOf, newest, pastReader, pastSince } from '../boards/past.ts'

const NamedVersion = named(
  'NamedVersion',
  'A moment of a board that has a name, and is kept until it is deleted.',
  {
    id: id('Id of the version. It can be used as `as_of`.'),
    board_id: boardId,
    name: text('Its name.'),
    position: integer('Position in the history of the board.'),
    at: time('The moment that it names.'),
    changed_at: nullable(time('When the board had become like this. Null when that was no longer known.')),
    created_by: object('The account that named it.', {
      user_id: id('Id of the account.'),
      display_name: nullable(text('Its name. Null when the account was deleted, or has none.')),
    }),
    created_at: createdAt,
  },
)

const versionParams = Type.Object({ id: boardId, versionId: id('Id of the version.') })
const name = text(`Name of the version, 1 to ${limits.name} characters. Spaces at both ends are removed.`)
const versionAnswer = Type.Object({ version: NamedVersion })

export const listVersions = route('GET /boards/:id/versions', 'read', {
  summary: 'List the named versions of a board, the latest moment first.',
  description:
    'Members of the workspace see all of them. A guest needs the history to be shared, and sees those since then.',
  schemas: { params: boardParams, query: Type.Object({ cursor, limit: pageQuery.limit }) },
  answers: { 200: cursorPage({ versions: list(NamedVersion, 'The versions of this page.') }) },
  refuses: ['forbidden'],
  async handle({ database }, { principal, params, query }) {
    const { limit } = pageOf(query)
    const before = query.cursor === undefined ? null : placeOf(params.id, query.cursor)
    await pastReader(database, principal.userId, params.id)
    const rows = await database.asUser(
      principal.userId,
      (tx) => tx<VersionRow[]>`
        select ${columns(tx)}
        from board_versions
        where board_id = ${params.id} ${before ? tx`and (at, id) < (${before.at}, ${before.id})` : tx``}
        order by at desc, id desc
        limit ${limit + 1}`,
    )
    const { shown, end } = cutAfter(rows, limit, (last) => `${params.id}|${last.at.toISOString()}|${last.id}`)
    return { body: { versions: await present(database, shown), ...end } }
  },
})

export const createVersion = route('POST /boards/:id/versions', 'write', {
  summary: 'Give the board as it is now, or as it was, a name.',
  description: `The board can be read as it was at this moment until the version is deleted, also after the retention of its history. A board has at most ${limits.versionsPerBoard} versions. A guest needs the history to be shared.`,
  schemas: { params: boardParams, body: Type.Object({ name, as_of: asOf }) },
  answers: { 201: versionAnswer },
  refuses: ['forbidden', 'conflict', 'limit_reached'],
  opensDocument: true,
  async handle(context, { principal, params, body }) {
    const { database, live, clock } = context
    const { userId } = principal
    const trimmed = trimmedName(body.name, limits.name)
    const moment = body.as_of === undefined ? newest(clock) : momentOf(body.as_of)
    if (body.as_of !== undefined && 'at' in moment && moment.at > clock.now() + clockSkewMs) throw notYet
    await requireWritable(database, userId, params.id)
    const reader = await pastReader(database, userId, params.id)
    const key = await claimVersionFile(live, params.id)
    try {
      const { past, file } = await withPast(live, params.id, moment, reader, async (past) => ({
        past,
        file: await writeVersionFile(live, key, past.document, userId),
      }))
      const at = namedTime(context, reader, body.as_of, past)
      const changedAt = past.at === null ? null : new Date(past.at)
      const named = { boardId: params.id, name: trimmed, position: past.position, at, changedAt }
      const version = await database.asUser(userId, (tx) => insert(tx, context, principal, named, file))
      return { status: 201, body: { version } }
    } catch (error) {
      await dropFiles(database, [key])
      throw error
    }
  },
})

/** The clock of a client may be ahead by this much. */
const clockSkewMs = 60_000
const notYet = badRequest('as_of must not be in the future. To name the board as it is now, leave it out.')

/** Inserts the version, and returns it as it is shown. */
async function insert(
  tx: Transaction,
  { documentBytes }: ApiContext,
  { userId, displayName }: Principal,
  moment: NamedMoment,
  file: VersionFile,
) {
  const { id, createdAt } = await insertVersion(tx, moment, file, documentBytes)
  const { boardId, changedAt, ...named } = moment
  const row = {
    ...{ id, board_id: boardId },
    ...named,
    ...{ changed_at: changedAt, created_by: userId, created_at: createdAt },
  }
  const version = presentVersion(row, displayName)
  currentOperation()?.concerns({ type: 'version', ids: [id], board: boardId })
  currentOperation()?.answers({ version }, 201)
  return version
}

export const renameVersion = route('PATCH /boards/:id/versions/:versionId', 'write', {
  summary: 'Rename a version.',
  schemas: { params: versionParams, body: Type.Object({ name }) },
  answers: { 200: versionAnswer },
  refuses: ['forbidden', 'conflict'],
  async handle({ database }, { principal, params, body }) {
    const trimmed = trimmedName(body.name, limits.name)
    const [row] = await database.asUser(principal.userId, async (tx) => {
      await lockVersion(tx, params)
      return tx<VersionRow[]>`
        update board_versions set name = ${trimmed} where id = ${params.versionId} returning ${columns(tx)}`
    })
    const [version] = await present(database, [row!])
    return { body: { version } }
  },
})

export const deleteVersion = route('DELETE /boards/:id/versions/:versionId', 'write', {
  // No card is deleted, so `delete` is not needed.
  summary: 'Delete a version. The moment is then kept as long as the rest of the history.',
  schemas: { params: versionParams },
  answers: { 200: deletedAnswer('version') },
  refuses: ['forbidden', 'conflict'],
  async handle({ database }, { principal, params }) {
    await database.asUser(principal.userId, async (tx) => {
      await lockVersion(tx, params)
      await tx`delete from board_versions where id = ${params.versionId}`
    })
    return { body: { deleted: true, id: params.versionId } }
  },
})

/**
 * Locks the board and checks that the caller may change this version of it.
 *
 * @throws ServiceError `not_found`, `forbidden` or `conflict`
 */
async function lockVersion(tx: Transaction, params: { id: string; versionId: string }): Promise<void> {
  await pastSince(tx, params.id)
  await tx`select lock_board(${params.id})`
  const [board] = await tx<{ access: string; trashed: boolean; found: boolean }[]>`
    select board_access(current_user_id(), b.id, b.workspace_id) as access, b.deleted_at is not null as trashed,
      exists (select from board_versions v where v.id = ${params.versionId} and v.board_id = b.id) as found
    from boards b
    where b.id = ${params.id}`
  if (board?.access !== 'write') throw notWritable()
  if (!board.found) throw noVersion()
  if (board.trashed) throw inTrash()
}

/** A guest's version is never from before the history was shared, when the board was like this since earlier. */
function namedTime({ clock }: ApiContext, { since }: Reader, given: string | undefined, past: Past): Date {
  const now = clock.now()
  const at = (given !== undefined && parseTime(given)?.getTime()) || (given !== undefined && past.at) || now
  return new Date(Math.max(Math.min(at, now), since?.getTime() ?? 0))
}

interface VersionRow {
  id: string
  board_id: string
  name: string
  position: number
  at: Date
  changed_at: Date | null
  created_by: string
  created_at: Date
}

const columns = (tx: Transaction) => tx`id, board_id, name, position, at, changed_at, created_by, created_at`

/** Names are read when they are shown: versions have ids only. */
async function present(database: Database, rows: VersionRow[]) {
  const accounts = rows.map(({ created_by }) => created_by)
  const names = await database.asSystem(
    (tx) => tx<{ id: string; name: string | null }[]>`
      select id, display_name as name from users where id = any (${accounts}::uuid[])`,
  )
  const nameOf = new Map(names.map(({ id, name }) => [id, name]))
  return rows.map((row) => presentVersion(row, nameOf.get(row.created_by) ?? null))
}

const presentVersion = ({ created_by: user_id, ...row }: VersionRow, display_name: string | null) => ({
  ...row,
  at: row.at.toISOString(),
  changed_at: row.changed_at?.toISOString() ?? null,
  created_by: { user_id, display_name },
  created_at: row.created_at.toISOString(),
})

function placeOf(board: string, given: string): { at: Date; id: string } {
  const [of, time = '', id = '', ...more] = given.split('|')
  const at = parseTime(time)
  if (of !== board || !at || !uuidPattern.test(id) || more.length > 0)
    throw badRequest('cursor must be next_cursor of an earlier page of this board’s versions.')
  return { at, id }
}
