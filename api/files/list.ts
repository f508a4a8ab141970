import Type, { type Static } from 'typebox'
import { id, list, named, nullable, time } from '../http/vocabulary.ts'
import { fileKeyPattern } from '../../core/file.ts'
import type { Transaction } from '../../sql/database.ts'
import { requireFilter } from '../boards/require-filter.ts'
import { pageOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { cursorPage, uuidPattern, workspaceId } from '../http/schemas.ts'
import { fileFields, fileType } from './fields.ts'
import { walkEnd, walkHorizon, walkOf, walkQuery, type Walk, type WalkedList } from '../http/walk.ts'

const query = Type.Object({
  workspace: Type.Optional(id('Only files of this workspace.')),
  board: Type.Optional(id('Only files that were uploaded for this board.')),
  ...walkQuery,
})

export const ImageRecord = named(
  'ImageRecord',
  'A file of any type. The name says image for historical reasons.',
  {
    ...fileFields,
    board_id: nullable(id('Id of the board that the file was uploaded for. Null: none.')),
    workspace_id: workspaceId,
    content_type: fileType,
    created_at: time('When it was uploaded.'),
  },
)

/** The id in a cursor is `<key>|<workspace>`, because a file can be in several workspaces. */
const files: WalkedList = {
  name: 'the images',
  isId(id) {
    const [key = '', workspace = '', ...more] = id.split('|')
    return fileKeyPattern.test(key) && uuidPattern.test(workspace) && more.length === 0
  },
  firstId: '',
}

export const listFiles = route('GET /images', 'read', {
  refuses: ['not_found'],
  summary: 'List files, newest first. With `since`: a feed of new uploads.',
  schemas: { query },
  answers: { 200: cursorPage({ images: list(ImageRecord, 'The files of this page.') }) },
  async handle({ database }, { principal, query }) {
    const { limit } = pageOf(query)
    const walk = walkOf(query, files)
    const rows = await database.asUser(principal.userId, async (tx) => {
      const files = await readFiles(tx, query, walk, await walkHorizon(tx, walk), limit)
      if (files.length === 0) await requireFilter(tx, query)
      return files
    })
    const { page, end } = walkEnd(rows, limit, walk, (row) => ({
      at: row.created_at,
      id: `${row.image_key}|${row.workspace_id}`,
    }))
    return { body: { images: page, ...end } }
  },
})

/** Reads the index of each workspace and of each shared board, so that no query plan scans the files of all tenants. */
function readFiles(
  tx: Transaction,
  { workspace, board }: { workspace?: string; board?: string },
  walk: Walk | null,
  horizon: Date | null,
  limit: number,
) {
  const [key = '', place = nobody] = walk?.id.split('|') ?? []
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
  return tx<Static<typeof ImageRecord>[]>`
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
