import { compare, rowOf } from '../compare.ts'
import type { Bench, CardServer, Measure, Row } from '../bench.ts'
import { formatNumber } from '../table.ts'
import { cpuOf } from './cpu.ts'

const connections = 32
const requestsPerRun = 1000
/** The code of a POST is compiled in several steps, the last of them after some thousand requests. */
const warmUpRequests = 4000

/** A card of the API against the same on Hocuspocus, where a direct connection stores the whole document. */
export const direct: Measure = {
  name: 'direct',
  summary: 'POST of one card against Hocuspocus with direct connections and its extension for databases',
  needsCorkboard: true,
  async run(bench) {
    const subject = await bench.corkboard()
    const reference = await bench.databasePeer()
    const rows: Row[] = []
    for (const server of [subject, reference]) await post(bench, server, connections, warmUpRequests)
    for (const boards of [connections, 1]) {
      const name = `POST of one card, ${boards === 1 ? 'one board' : `${boards} boards`}`
      const side = (server: CardServer) => () => post(bench, server, boards, requestsPerRun)
      const compared = await compare(
        bench,
        `${name}, over direct connections`,
        { subject: side(subject), reference: side(reference) },
        ({ perSecond, cpuMs }) => `${formatNumber(perSecond)}/s, ${formatNumber(cpuMs)} ms of CPU each`,
      )
      const about = { name, referenceName: 'Hocuspocus with a database' }
      rows.push(
        rowOf(compared, ({ perSecond }) => perSecond, {
          ...{ ...about, unit: 'requests/s', target: { atLeast: 3 } },
        }),
        rowOf(compared, ({ cpuMs }) => cpuMs, { ...about, unit: 'ms CPU', target: { atMost: 0.33 } }),
      )
    }
    return rows
  },
}

async function post(bench: Bench, server: CardServer, boards: number, count: number) {
  const ids = await server.createBoards(boards)
  let perSecond = 0
  const cpuMs = await cpuOf(server, async () => {
    ;({ perSecond } = await bench.load.run('requests', {
      api: server.api,
      requests: ids.map((board) => ({ method: 'POST', path: `/boards/${board}/cards`, cards: 1 })),
      connections,
      until: { count },
    }))
  })
  return { perSecond, cpuMs: cpuMs / count }
}
