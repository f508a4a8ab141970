import Type from 'typebox'
import { ServiceError } from '../../core/errors.ts'
import type { Transaction } from '../../sql/database.ts'
import { distinctIdentifiers } from '../identifiers.ts'
import { route } from '../route.ts'
import { boardAnswer, nullable, uuid } from '../schemas.ts'
import { presentBoard, readBoard, requireParent } from './board.ts'
import { freeFields, name, requireProps, requireSchedule, scheduleFields, trimmedName } from './fields.ts'

const body = Type.Object({
  name,
  workspace_id: Type.Optional(uuid),
  parent_board_id: Type.Optional(nullable(uuid)),
  view: Type.Optional(Type.Unknown({ description: '`list`; anything else is `canvas`.' })),
  ...scheduleFields,
  ...freeFields,
  notify: Type.Optional(Type.Boolean()),
})

export const createBoard = route({
  method: 'POST',
  path: '/boards',
  scope: 'write',
  summary: 'Create a board.',
  schemas: { body },
  answers: { 201: Type.Object({ board: boardAnswer }) },
  async handle({ database }, { principal, body }) {
    const name = trimmedName(body.name)
    requireSchedule(body.scheduled_date, body.scheduled_end)
    requireProps(body.props)
    const board = await database.asUser(principal.userId, async (tx) => {
      const workspaceId = await chooseWorkspace(tx, body)
      // Separate from the insert: a returned row must pass the read policy, which is evaluated on the state before it.
      const [made] = await tx<{ id: string }[]>`
        insert into boards (workspace_id, parent_board_id, name, view, scheduled_date, scheduled_end, day_label, props, identifiers)
        values (
          ${workspaceId}, ${body.parent_board_id ?? null}, ${name}, ${body.view === 'list' ? 'list' : 'canvas'},
          ${body.scheduled_date ?? null}, ${body.scheduled_end ?? null}, ${body.day_label ?? null},
          ${body.props ? tx.json(body.props as never) : null}, ${tx.json(distinctIdentifiers(body.identifiers ?? []) as never)}
        )
        returning id`
      return readBoard(tx, made!.id)
    })
    return { status: 201, body: { board: presentBoard(board, { props: true, identifiers: true }) } }
  },
})

async function chooseWorkspace(
  tx: Transaction,
  body: { workspace_id?: string; parent_board_id?: string | null },
): Promise<string> {
  const workspaceId = body.workspace_id?.toLowerCase()
  if (workspaceId !== undefined) {
    const [workspace] = await tx`select from workspaces where id = ${workspaceId}`
    if (!workspace) throw new ServiceError('not_found', 'workspace_id: no such workspace.')
  }
  if (body.parent_board_id) {
    const parent = await requireParent(tx, body.parent_board_id, workspaceId ?? null)
    return parent.workspaceId
  }
  if (workspaceId !== undefined) return workspaceId
  const [personal] = await tx<{ id: string }[]>`select personal_workspace() as id`
  return personal!.id
}
