import Type from 'typebox'
import { noBoard } from '../../core/board.ts'
import { ServiceError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { route, type Answer } from '../route.ts'
import { boardAnswer, uuid } from '../schemas.ts'
import { presentBoard, readBoards } from './board.ts'
import { entryFields, readEntry } from './entry.ts'
import { updatedMark, writeEntries, type WrittenBoard } from './write-entries.ts'

const body = Type.Object({
  ...entryFields,
  name: Type.Optional(entryFields.name),
  workspace_id: Type.Optional({ ...uuid, description: 'Of a batch: where an entry names none.' }),
  on_conflict: Type.Optional(
    Type.Literal('identifier', {
      description:
        'Of a batch: an entry with an identifier that a live board of the workspace carries updates that board.',
    }),
  ),
  boards: Type.Optional(
    Type.Array(Type.Object(entryFields), { minItems: 1, maxItems: limits.boardsPerRequest }),
  ),
})

export const createBoard = route({
  method: 'POST',
  path: '/boards',
  scope: 'write',
  refuses: ['not_found', 'forbidden'],
  summary: 'Create a board, or up to 500 at once.',
  schemas: { body },
  answers: {
    201: Type.Union([
      Type.Object({ board: boardAnswer }),
      Type.Object({
        boards: Type.Array(
          Type.Object({ ...boardAnswer.properties, created: Type.Optional(Type.Boolean()) }),
        ),
        created: Type.Integer(),
        updated: Type.Optional(Type.Integer()),
      }),
    ]),
  },
  async handle({ database }, { principal, body }) {
    const { boards, name } = body
    const update = body.on_conflict !== undefined
    if (boards === undefined) {
      if (name === undefined) throw new ServiceError('bad_request', 'name is required.')
      if (update)
        throw new ServiceError('bad_request', 'on_conflict goes with the batch form: send boards, a list.')
      const entry = readEntry({ ...body, name })
      const [made] = await database.asUser(principal.userId, (tx) => writeEntries(tx, [entry]))
      return {
        status: 201,
        body: { board: presentBoard(made!.board, { props: true, identifiers: true }) },
      }
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
    const ids = made.map((one) => one.replace(updatedMark, ''))
    const boards = await database.asUser(principal.userId, (tx) => readBoards(tx, ids))
    const written = made.flatMap((one, at) => {
      const board = boards.get(ids[at]!)
      return board ? [{ board, created: !one.startsWith(updatedMark) }] : []
    })
    if (body.boards !== undefined) return answerOf(written, body.on_conflict !== undefined)
    const [one] = written
    if (!one) throw noBoard()
    return { status: 201, body: { board: presentBoard(one.board, { props: true, identifiers: true }) } }
  },
})

/** To a batch. */
function answerOf(written: WrittenBoard[], update: boolean): Answer {
  const created = written.filter((one) => one.created).length
  return {
    status: 201,
    body: {
      boards: written.map((one) => ({
        ...presentBoard(one.board, { props: true, identifiers: true }),
        ...(update ? { created: one.created } : {}),
      })),
      created,
      ...(update ? { updated: written.length - created } : {}),
    },
  }
}
