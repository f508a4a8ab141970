import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import { fileKeyPattern } from '../../core/file.ts'
import type { Transaction } from '../../sql/database.ts'
import { feedEnd, feedHorizon, parseTime, since, sinceOf } from '../feed.ts'
import { pageOf } from '../page.ts'
import { route } from '../route.ts'
import { nullable, pageQuery, timestamp, uuid, uuidPattern } from '../schemas.ts'

const query = Type.Object({
  workspace: Type.Optional(uuid),
  board: Type.Optional(uuid),
  since,
  cursor: Type.Optional(
    Type.String({ maxLength: 300, description: 'The `next_cursor` of the page before.' }),
  ),
  limit: pageQuery.limit,
})

const fileAnswer = Type.Object({
  image_key: Type.String(),
  bytes: nullable(Type.Integer()),
  width: nullable(Type.Integer()),
  height: nullable(Type.Integer()),
  board_id: nullable(uuid),
  workspace_id: uuid,
  content_type: Type.String(),
  created_at: timestamp,
})

interface FileRow {
  image_key: string
  bytes: number | null
  width: number | null
  height: number | null
  board_id: string | null
  workspace_id: string
  content_type: string
  created_at: Date
}

/** Where a walk stands: `after` follows what comes, `before` goes back in time. A file may be in several workspaces. */
interface Walk {
  direction: 'after' | 'before'
  at: Date
  /** `<key>|<workspace>`, which together are unique; null: before all of that time. */
  id: string | null
}

export const listFiles = route({
  method: 'GET',
  path: '/images',
  scope: 'read',
  summary: 'List files, the newest first, or follow what is uploaded.',
  schemas: { query },
  answers: {
    200: Type.Object({
      images: Type.Array(fileAnswer),
      limit: Type.Integer(),
      has_more: Type.Boolean(),
      next_cursor: nullable(Type.String()),
    }),
  },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query)
    const rows = await database.asUser(principal.userId, async (tx) => {
      const horizon = walk?.direction === 'after' ? await feedHorizon(tx) : null
      return tx<FileRow[]>`${page(tx, query, walk, horizon, limit)}`
    })
    const direction = walk?.direction ?? 'before'
    const { page: shown, end } = feedEnd(rows, limit, {
      from: walk ?? { at: new Date(0), id: null },
      positionOf: (row) => ({ at: row.created_at, id: `${row.image_key}|${row.workspace_id}` }),
      cursorOf: ({ at, id }) => `${direction}|${at.toISOString()}|${id ?? ''}`,
    })
    const next_cursor = direction === 'after' || end.has_more ? end.next_cursor : null
    const images = shown.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
    return { body: { images, ...end, next_cursor } }
  },
})

/** Along the index of each workspace and of each shared board: no plan may go through the files of all tenants. */
function page(
  tx: Transaction,
  { workspace, board }: { workspace?: string; board?: string },
  walk: Walk | null,
  horizon: Date | null,
  limit: number,
) {
  const [key = '', place = nobody] = walk?.id?.split('|') ?? []
  const position = tx`(i.created_at, i.image_key, i.workspace_id)`
  const bound = !walk
    ? tx``
    : horizon
      ? tx`and ${position} > (${walk.at}, ${key}, ${place}::uuid) and i.created_at < ${horizon}`
      : tx`and ${position} < (${walk.at}, ${key}, ${place}::uuid)`
  const order = horizon
    ? tx`created_at, image_key, workspace_id`
    : tx`created_at desc, image_key desc, workspace_id desc`
  const columns = tx`i.image_key, i.bytes, i.width, i.height, i.board_id, i.workspace_id, i.content_type, i.created_at`
  const chosen = tx`
    ${workspace === undefined ? tx`` : tx`and i.workspace_id = ${workspace}`}
    ${board === undefined ? tx`` : tx`and i.board_id = ${board}`}
    ${bound}
    order by ${order}
    limit ${limit + 1}`
  return tx`
    select f.*
    from (
      select f.* from readable_workspaces(current_user_id()) w(id)
      cross join lateral (select ${columns} from images i where i.workspace_id = w.id ${chosen}) f
      union
      select f.* from readable_shared_boards(current_user_id()) b(id)
      cross join lateral (select ${columns} from images i where i.board_id = b.id ${chosen}) f
    ) f
    order by ${order}
    limit ${limit + 1}`
}

const nobody = '00000000-0000-0000-0000-000000000000'

/** Null: from the newest on. @throws ServiceError `bad_request` */
function walkOf({ since, cursor }: { since?: string; cursor?: string }): Walk | null {
  if (cursor === undefined) return since === undefined ? null : { ...sinceOf(since), direction: 'after' }
  const [direction, time = '', key = '', workspace = '', ...more] = cursor.split('|')
  const at = parseTime(time)
  const isPlace = fileKeyPattern.test(key) && uuidPattern.test(workspace)
  const isStart = key === '' && workspace === '' && direction === 'after'
  const isWalk = direction === 'after' || (direction === 'before' && since === undefined)
  if (!isWalk || !at || !(isPlace || isStart) || more.length > 0)
    throw new ServiceError('bad_request', 'cursor must be the next_cursor of an earlier page of the images.')
  return { at, id: isStart ? null : `${key}|${workspace}`, direction }
}
