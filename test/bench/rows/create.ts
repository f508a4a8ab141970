import { compare, rowOf } from '../compare.ts'
import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import { describeThroughput } from './describe.ts'

interface Shape {
  name: string
  unit: string
  boards: number
  connections: number
  cardsPerRequest: number
  atLeast: number
}

const single = { unit: 'requests/s', connections: 32, cardsPerRequest: 1 }
const singleShapes: Shape[] = [
  { ...single, name: 'POST of one card, 32 boards', boards: 32, atLeast: 0.55 },
  { ...single, name: 'POST of one card, one board', boards: 1, atLeast: 0.5 },
]
const batchShapes: Shape[] = [
  {
    name: 'POST of 1,000 cards',
    unit: 'requests/s',
    boards: 1,
    connections: 1,
    cardsPerRequest: 1_000,
    atLeast: 0.3,
  },
]

export const createOne: Measure = {
  name: 'create',
  summary: 'POST of one positioned card over 32 connections against a bare insert',
  needsCorkboard: false,
  run: (bench) => creates(bench, singleShapes),
}

export const createBatch: Measure = {
  name: 'batch',
  summary: 'POST of 1,000 positioned cards against a bare multi-row insert',
  needsCorkboard: false,
  run: (bench) => creates(bench, batchShapes),
}

async function creates(bench: Bench, shapes: Shape[]): Promise<Row[]> {
  const subject = await bench.cardSubject()
  const reference = await bench.insertHandler()
  const rows: Row[] = []
  for (const shape of shapes) {
    const side = (server: CardServer) => () => createCards(bench, server, shape)
    const compared = await compare(
      bench,
      shape.name,
      { subject: side(subject), reference: side(reference) },
      describeThroughput,
    )
    rows.push(
      rowOf(compared, (run) => run.perSecond, {
        name: shape.name,
        unit: shape.unit,
        referenceName: 'bare insert',
        target: { atLeast: shape.atLeast },
      }),
    )
  }
  return rows
}

async function createCards(bench: Bench, server: CardServer, shape: Shape) {
  const boards = await server.createBoards(shape.boards)
  return bench.load.run('requests', {
    api: server.api,
    requests: boards.map((board) => ({
      method: 'POST',
      path: `/boards/${board}/cards`,
      cards: shape.cardsPerRequest,
    })),
    connections: shape.connections,
    until: { seconds: bench.seconds },
  })
}
