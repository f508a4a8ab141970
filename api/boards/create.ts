import Type from 'typebox'
import { id, integer, list, listOf } from '../http/vocabulary.ts'
import { noBoard } from '../../core/board.ts'
import { badRequest } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { route, type Answer } from '../http/route.ts'
import { Board } from '../http/schemas.ts'
import { idsOf } from '../../sql/made.ts'
import { presentBoard, readBoards } from './board.ts'
import { entry, entryFields, readEntry } from './entry.ts'
import { writeEntries, type WrittenBoard } from './write-entries.ts'

const body = Type.Object({
  ...entryFields,
  name: Type.Optional(entryFields.name),
  workspace_id: Type.Optional(
    id(
      'Id of the workspace to create the board in. Without it: the workspace of the parent, else your own. In the batch form: the default for entries without `workspace_id`.',
    ),
  ),
  on_conflict: Type.Optional(
    Type.Literal('identifier', {
      description:
        'Batch form only. An entry updates the board of the workspace that has one of its identifiers, if there is one.',
    }),
  ),
  boards: Type.Optional(
    listOf(entry, limits.boardsPerRequest, 'The batch form: all of these boards are written, or none.'),
  ),
})

export const createBoard = route('POST /boards', 'write', {
  refuses: ['not_found', 'forbidden'],
  summary: `Create a board, or up to ${limits.boardsPerRequest} at once.`,
  schemas: { body },
  answers: {
    201: Type.Union([
      Type.Object({ board: Board }),
      Type.Object({
        boards: list(Board, 'The boards, in the order of the entries.'),
        created: integer('How many boards are new.'),
        updated: Type.Optional(integer('With `on_conflict`: how many boards were updated.')),
      }),
    ]),
  },
  async handle({ database }, { principal, body }) {
    const { boards, name } = body
    const update = body.on_conflict !== undefined
    if (boards === undefined) {
      if (name === undefined) throw badRequest('name is required.')
      if (update) throw badRequest('on_conflict goes with the batch form: send boards, a list.')
      const entry = readEntry({ ...body, name })
      const [made] = await database.asUser(principal.userId, (tx) => writeEntries(tx, [entry]))
      return { status: 201, body: { board: presentBoard(made!.board) } }
    }
    const entries = boards.map((given, at) =>
      readEntry(given, {
        where: `boards[${at}].`,
        ...(body.workspace_id === undefined ? {} : { workspaceId: body.workspace_id }),
        mayUpdate: update,
      }),
    )
    return answerOf(
      await database.asUser(principal.userId, (tx) => writeEntries(tx, entries, { update })),
      update,
    )
  },
  async rebuild({ database }, { principal, body }, made) {
    const ids = idsOf(made)
    const boards = await database.asUser(principal.userId, (tx) => readBoards(tx, ids))
    const written = made.flatMap((one) => {
      const board = 'id' in one && boards.get(one.id)
      return board ? [{ board, created: one.type === 'new' }] : []
    })
    if (body.boards !== undefined) return answerOf(written, body.on_conflict !== undefined)
    const [one] = written
    if (!one) throw noBoard()
    return { status: 201, body: { board: presentBoard(one.board) } }
  },
})

/** The answer to a batch. */
function answerOf(written: WrittenBoard[], update: boolean): Answer {
  const created = written.filter((one) => one.created).length
  return {
    status: 201,
    body: {
      boards: written.map((one) => ({
        ...presentBoard(one.board),
        ...(update ? { created: one.created } : {}),
      })),
      created,
      ...(update ? { updated: written.length - created } : {}),
    },
  }
}
