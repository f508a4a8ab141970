import { Readable } from 'node:stream'
import Type from 'typebox'
import { captureBoard } from '../../collab/capture.ts'
import { cardTimes } from '../../collab/read.ts'
import { presentBoard, readBoard, type BoardRow } from '../boards/board.ts'
import { route, type ApiContext } from '../route.ts'
import { boardAnswer, boardParams, cardAnswer, groupAnswer, timestamp } from '../schemas.ts'
import { jsonExport } from './json-export.ts'
import { omcExport } from './omc-export.ts'
import { Turns } from './turns.ts'

/** Each holds a board in memory until its client has read it. */
const turns = new Turns(2)

/** A client that reads more slowly than this is cut off: it holds memory and a turn. */
const limitsMs = { toRead: 5 * 60_000, chunk: 30_000 }

const omcEntity = Type.Object(
  { schemaVersion: Type.String(), entityType: Type.String(), identifier: Type.Array(Type.Unknown()) },
  { additionalProperties: true },
)

export const exportBoard = route({
  method: 'GET',
  path: '/boards/:id/export',
  scope: 'read',
  summary: 'Export a board as it is at one moment, also one in the trash: as JSON, or as OMC-JSON 2.8.',
  schemas: {
    params: boardParams,
    query: Type.Object({
      format: Type.Enum(['json', 'omc'], {
        default: 'json',
        description:
          '`json`: everything, each card with its `raw`. `omc`: an array of OMC-JSON 2.8 entities.',
      }),
    }),
  },
  answers: {
    200: Type.Union([
      Type.Object({
        format: Type.Literal('json'),
        version: Type.Integer({ description: 'Of this form of export.' }),
        exported_at: timestamp,
        board: boardAnswer,
        groups: Type.Array(groupAnswer),
        cards: Type.Array(cardAnswer),
      }),
      Type.Array(omcEntity),
    ]),
  },
  opensDocument: true,
  async handle(context, { principal, params, query }) {
    const { row, children } = await readRows(context, principal.userId, params.id)
    const end = (await turns.take(principal.userId))!
    try {
      const capture = await captureBoard(context.live, params.id, { raw: query.format === 'json' })
      const exported = {
        ...capture,
        board: presentBoard(row, { props: true, identifiers: true }),
        children,
        exportedAt: new Date(context.clock.now()).toISOString(),
        times: await cardTimes(
          context.live.database,
          params.id,
          capture.cards.map(({ id }) => id),
        ),
      }
      const chunks = query.format === 'json' ? jsonExport(exported) : omcExport(exported)
      return {
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: watched(Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 }), end),
      }
    } catch (error) {
      end()
      throw error
    }
  },
})

function readRows({ database }: ApiContext, userId: string, boardId: string) {
  return database.asUser(userId, async (tx): Promise<{ row: BoardRow; children: { id: string }[] }> => {
    const row = await readBoard(tx, boardId)
    const children = await tx<{ id: string }[]>`
      select id from boards where parent_board_id = ${boardId} and deleted_at is null order by created_at, id`
    return { row, children }
  })
}

function watched(body: Readable, end: () => void): Readable {
  const cutOff = () => body.destroy(new Error('The export was not read in time.'))
  const whole = setTimeout(cutOff, limitsMs.toRead)
  let stalled = setTimeout(cutOff, limitsMs.chunk)
  const push = body.push.bind(body)
  body.push = (...given) => {
    clearTimeout(stalled)
    stalled = setTimeout(cutOff, limitsMs.chunk)
    return push(...given)
  }
  body.once('close', () => {
    clearTimeout(whole)
    clearTimeout(stalled)
    end()
  })
  return body
}
