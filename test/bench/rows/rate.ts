import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import type { ApiRequest, Throughput } from '../load/jobs.ts'
import type { Part } from '../without.ts'
import { describeThroughput } from './describe.ts'

interface Shape {
  name: string
  without: Part
  request(boardId: string): ApiRequest
}

const shapes: Shape[] = [
  {
    name: 'GET /me',
    without: 'rate limit',
    request: () => ({ method: 'GET', path: '/me', cards: 0 }),
  },
  {
    name: 'POST of one card',
    without: 'audit',
    request: (boardId) => ({ method: 'POST', path: `/boards/${boardId}/cards`, cards: 1 }),
  },
]

/**
 * Cost of rate limits for each request, and of audit entries for each write: the service compared with itself without
 * them.
 */
export const rate: Measure = {
  name: 'rate',
  summary: 'GET with the rate limit against without, POST of one card with the audit against without',
  needsCorkboard: true,
  async run(bench): Promise<Row[]> {
    const rows: Row[] = []
    for (const shape of shapes) {
      const reference = await bench.corkboardWithout(shape.without)
      try {
        rows.push(await measure(bench, shape, await bench.corkboard(), reference))
      } finally {
        await reference.stop()
      }
    }
    return rows
  },
}

async function measure(
  bench: Bench,
  { name, without, request }: Shape,
  subject: CardServer,
  reference: CardServer,
): Promise<Row> {
  const side = (server: CardServer) => async (): Promise<Throughput> => {
    const [board] = await server.createBoards(1)
    return bench.load.run('requests', {
      api: server.api,
      requests: [request(board!)],
      connections: 32,
      until: { seconds: bench.seconds },
    })
  }
  const sides = { subject: side(subject), reference: side(reference) }
  return rowOf(
    await compare(bench, `${name}, ${without}`, sides, describeThroughput),
    (run) => run.perSecond,
    {
      name,
      unit: 'requests/s',
      referenceName: `without ${without}`,
      target: { atLeast: 0.95 },
    },
  )
}
