import Type from 'typebox'
import { includeOf } from '../page.ts'
import { route } from '../route.ts'
import { boardAnswer, boardParams, nullable } from '../schemas.ts'
import { presentBoard, readBoard } from './board.ts'
import { readCapacity } from './capacity.ts'

const capacity = Type.Object(
  { limit: Type.Integer(), used: Type.Integer(), remaining: Type.Integer() },
  { description: 'The cards of the board’s owner, on all live boards.' },
)

export const readBoardById = route({
  method: 'GET',
  path: '/boards/:id',
  scope: 'read',
  summary: 'Read a board and its remaining card capacity.',
  schemas: {
    params: boardParams,
    query: Type.Object({
      include: Type.Optional(
        Type.String({ description: 'Comma list of `props`, `identifiers`; a single board has both anyway.' }),
      ),
    }),
  },
  answers: { 200: Type.Object({ board: boardAnswer, capacity: nullable(capacity) }) },
  async handle({ database, freeCardCap }, { principal, params, query }) {
    includeOf(query.include, ['props', 'identifiers'])
    return database.asUser(principal.userId, async (tx) => {
      const [board, capacity] = await Promise.all([
        readBoard(tx, params.id),
        readCapacity(tx, params.id, freeCardCap),
      ])
      return { body: { board: presentBoard(board, { props: true, identifiers: true }), capacity } }
    })
  },
})
