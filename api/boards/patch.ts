import Type, { type Static } from 'typebox'
import { inTrash, notWritable } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { distinctIdentifiers } from '../identifiers.ts'
import { route } from '../route.ts'
import { boardAnswer, boardParams, boardView, nullable, uuid } from '../schemas.ts'
import { changeQuietly, presentBoard, readBoard, requireParent } from './board.ts'
import { freeFields, name, requireProps, requireSchedule, scheduleFields, trimmedName } from './fields.ts'

const patch = Type.Object({
  name: Type.Optional(name),
  view: Type.Optional(boardView),
  parent_board_id: Type.Optional(nullable(uuid)),
  ...scheduleFields,
  ...freeFields,
  notify: Type.Optional(Type.Boolean({ description: '`false`: the change of schedule is told to nobody.' })),
})

export const patchBoard = route({
  method: 'PATCH',
  path: '/boards/:id',
  scope: 'write',
  summary: 'Change a board: its name, view, parent, schedule, properties.',
  schemas: { params: boardParams, body: patch },
  answers: { 200: Type.Object({ board: boardAnswer }) },
  async handle({ database }, { principal, params, body }) {
    requireProps(body.props)
    const board = await database.asUser(principal.userId, async (tx) => {
      await readBoard(tx, params.id)
      await tx`select lock_board(${params.id})`
      const before = await readBoard(tx, params.id)
      const changes = columns(tx, body)
      requireSchedule(
        body.scheduled_date === undefined ? before.scheduled_date : body.scheduled_date,
        body.scheduled_end === undefined ? before.scheduled_end : body.scheduled_end,
      )
      const [writable] = await tx<{ access: string }[]>`
        select board_access(current_user_id(), ${params.id}, ${before.workspace_id}) as access`
      if (writable?.access !== 'write') throw notWritable()
      if (before.deleted) throw inTrash()
      if (body.parent_board_id) await requireNoCycle(tx, params.id, body.parent_board_id, before.workspace_id)
      if (body.notify === false) await changeQuietly(tx, [params.id])
      if (Object.keys(changes).length > 0) await tx`update boards set ${tx(changes)} where id = ${params.id}`
      return readBoard(tx, params.id)
    })
    return { body: { board: presentBoard(board, { props: true, identifiers: true }) } }
  },
})

/** Only what was sent. */
function columns(tx: Transaction, body: Static<typeof patch>): Record<string, never> {
  const changes: Record<string, unknown> = {}
  for (const field of ['view', 'parent_board_id', 'scheduled_date', 'scheduled_end', 'day_label'] as const) {
    if (body[field] !== undefined) changes[field] = body[field]
  }
  if (body.name !== undefined) changes['name'] = trimmedName(body.name)
  if (body.props !== undefined) changes['props'] = body.props === null ? null : tx.json(body.props as never)
  if (body.identifiers !== undefined)
    changes['identifiers'] = tx.json(distinctIdentifiers(body.identifiers ?? []) as never)
  return changes as Record<string, never>
}

/** Reparenting in one workspace goes one after the other, or two could make a circle between them. */
async function requireNoCycle(
  tx: Transaction,
  boardId: string,
  parentId: string,
  workspaceId: string,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(1129270349, hashtext(${workspaceId}))`
  await requireParent(tx, parentId, workspaceId)
  const [found] = await tx<{ cycle: boolean }[]>`
    with recursive above as (
      select id, parent_board_id from boards where id = ${parentId}
      union
      select b.id, b.parent_board_id from boards b join above a on b.id = a.parent_board_id
    )
    select exists (select from above where id = ${boardId}) as cycle`
  if (found?.cycle) throw new ServiceError('conflict', 'parent_board_id: a board cannot lie below itself.')
}
