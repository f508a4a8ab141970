import { Readable } from 'node:stream'
import Type from 'typebox'
import { integer, list, oneOf, text, time } from '../http/vocabulary.ts'
import { captureBoard, readWhole, type Capture } from '../../collab/boards/capture.ts'
import { withPast } from '../../collab/history/past.ts'
import { pastTimes } from '../../collab/history/times.ts'
import { inTurns } from '../../platform/work/loop-turn.ts'
import { cardTimes } from '../../collab/boards/read.ts'
import { presentBoard, readBoard, type BoardRow } from '../boards/board.ts'
import { asOf, momentOf, pastMoment, pastReader, presentMoment } from '../boards/past.ts'
import { readInTime } from '../http/read-in-time.ts'
import { route, type ApiContext } from '../http/route.ts'
import { FairQueue } from '../../platform/work/fair-queue.ts'
import { Board, boardParams, Card, Group } from '../http/schemas.ts'
import { jsonExport } from './json-export.ts'
import { omcExport } from './omc-export.ts'

/** An export keeps a board in memory until its client has read it. */
export const exports = new FairQueue({ atOnce: Infinity, atOncePerAccount: 2 })

const omcEntity = Type.Object(
  {
    schemaVersion: text('Version of OMC-JSON.'),
    entityType: text('Type of the entity.'),
    identifier: list(Type.Unknown(), 'Identifiers of the entity.'),
  },
  { additionalProperties: true, description: 'An OMC-JSON 2.8 entity.' },
)

export const exportBoard = route('GET /boards/:id/export', 'read', {
  summary: 'Export a board as JSON or OMC-JSON 2.8, even from the trash.',
  description:
    'With `as_of`: the groups and cards as they were. The board itself is as it is now. A guest needs the history to be shared.',
  schemas: {
    params: boardParams,
    query: Type.Object({
      format: Type.Optional(
        oneOf(
          ['json', 'omc'],
          '`json` (default): the board, its groups and cards, each card with its `raw`. `omc`: a list of OMC-JSON 2.8 entities.',
          { default: 'json' },
        ),
      ),
      as_of: asOf,
    }),
  },
  answers: {
    200: Type.Union([
      Type.Object({
        format: Type.Literal('json', { description: 'Always `json`.' }),
        version: integer('Version of this format.'),
        exported_at: time('When the export was made.'),
        as_of: Type.Optional(pastMoment),
        board: Board,
        groups: list(Group, 'All groups of the board.'),
        cards: list(Card, 'All cards of the board, each with its `raw`.'),
      }),
      Type.Array(omcEntity),
    ]),
  },
  refuses: ['forbidden'],
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const { row, children } = await readRows(context, principal.userId, params.id)
    const end = await exports.take(principal.userId)
    try {
      const captured = await capturedFor(context, principal.userId, params.id, query)
      const exported = {
        ...captured,
        html: context.live.html,
        account: principal.userId,
        board: presentBoard(row),
        children,
        exportedAt: new Date(context.clock.now()).toISOString(),
      }
      const chunks = query.format === 'omc' ? omcExport(exported) : jsonExport(exported)
      const body = readInTime(Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 }))
      return {
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: body.once('close', end),
      }
    } catch (error) {
      end()
      throw error
    }
  },
})

/** The board now, or as it was. */
async function capturedFor(
  { live, database }: ApiContext,
  account: string,
  boardId: string,
  { format, as_of }: { format?: string; as_of?: string },
) {
  const raw = format !== 'omc'
  const idsOf = ({ cards }: Capture) => cards.map(({ id }) => id)
  if (as_of === undefined) {
    const capture = await captureBoard(live, boardId, { raw, account })
    return { ...capture, times: await cardTimes(database, boardId, idsOf(capture)), asOf: undefined }
  }
  const moment = momentOf(as_of)
  const reader = await pastReader(database, account, boardId)
  return withPast(live, boardId, moment, reader, async (past) => {
    const capture = await inTurns(readWhole(past.document, raw))
    const times = await pastTimes(database, boardId, idsOf(capture), past.at)
    return { ...capture, times, asOf: presentMoment(past) }
  })
}

function readRows({ database }: ApiContext, userId: string, boardId: string) {
  return database.asUser(userId, async (tx): Promise<{ row: BoardRow; children: { id: string }[] }> => {
    const row = await readBoard(tx, boardId)
    const children = await tx<{ id: string }[]>`
      select id from boards where parent_board_id = ${boardId} and deleted_at is null order by created_at, id`
    return { row, children }
  })
}
