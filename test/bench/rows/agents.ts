import type { Corkboard, Measure } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'

const clients = 50
const editsPerSecond = 5

/** How long a person's edit takes until it is acknowledged while agents write to the same board, and while they don't. */
export const agents: Measure = {
  name: 'agents',
  summary: 'a person who types beside 50 API clients, against the same person alone',
  needsCorkboard: true,
  async run(bench) {
    const corkboard = (await bench.corkboard()) as Corkboard
    const typing = (count: number) => async () =>
      bench.load.run('typing', {
        server: corkboard.editors,
        api: corkboard.api,
        board: (await corkboard.createBoards(1))[0]!,
        clients: count,
        editsPerSecond,
        seconds: bench.seconds,
      })
    await typing(clients)()
    const name = `a person's edit beside ${clients} API clients`
    const compared = await compare(
      bench,
      name,
      { subject: typing(clients), reference: typing(0) },
      ({ p95Ms, writesPerSecond }) =>
        `p95 ${formatNumber(p95Ms)} ms, ${formatNumber(writesPerSecond)} writes/s`,
    )
    const about = { name, unit: 'ms p95', referenceName: 'alone', target: { atMost: 5 } }
    return [rowOf(compared, ({ p95Ms }) => p95Ms, about)]
  },
}
