import Type from 'typebox'
import { integer, named, nullable, text } from '../http/vocabulary.ts'
import { tagged } from '../http/if-match.ts'
import { includeOf } from '../http/page.ts'
import { route } from '../http/route.ts'
import { Board, boardParams } from '../http/schemas.ts'
import { presentBoard, readBoard } from './board.ts'
import { readCapacity } from './capacity.ts'

const Capacity = named('Capacity', 'How many cards the owner of the board may still have.', {
  limit: integer('How many cards the owner’s plan allows.'),
  used: integer('How many cards the owner has, on all boards outside the trash.'),
  remaining: integer('How many cards can be added.'),
})

export const readBoardById = route('GET /boards/:id', 'read', {
  summary: 'Read a board and its remaining card capacity.',
  schemas: {
    params: boardParams,
    query: Type.Object({
      include: Type.Optional(
        text('A comma list of `props`, `identifiers`. A single board has both in any case.'),
      ),
    }),
  },
  answers: {
    200: Type.Object({
      board: Board,
      capacity: nullable(Capacity, 'Null when the plan of the board’s owner has no limit on cards.'),
    }),
  },
  answerHeaders: ['etag'],
  async handle({ database, freeCardCap }, { principal, params, query }) {
    includeOf(query.include, ['props', 'identifiers'])
    return database.asUser(principal.userId, async (tx) => {
      const [board, capacity] = await Promise.all([
        readBoard(tx, params.id),
        readCapacity(tx, params.id, freeCardCap),
      ])
      const shown = presentBoard(board)
      return { body: { board: shown, capacity }, headers: tagged(shown) }
    })
  },
})
