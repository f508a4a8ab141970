import { compare, rowOf } from '../compare.ts'
import type { Measure } from '../bench.ts'
import { formatNumber } from '../table.ts'

const changesPerRun = 500

/** Time from sending a POST until an editor's socket receives the card, compared with an edit of another editor. */
export const screen: Measure = {
  name: 'screen',
  summary: "an API write on a peer's screen against a relay between two sockets of bare Hocuspocus",
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const hocuspocus = await bench.editorPeer('hocuspocus')
    const compared = await compare(
      bench,
      "API write on a peer's screen",
      {
        subject: async () =>
          bench.load.run('screen', {
            server: corkboard.editors,
            board: (await corkboard.createBoards(1))[0]!,
            api: corkboard.api,
            count: changesPerRun,
          }),
        reference: async () =>
          bench.load.run('screen', {
            server: hocuspocus.editors,
            board: (await hocuspocus.createBoards(1))[0]!,
            api: null,
            count: changesPerRun,
          }),
      },
      (result) => `p50 ${formatNumber(result.p50Ms)} ms`,
    )
    return [
      rowOf(compared, (result) => result.p50Ms, {
        name: "API write on a peer's screen",
        unit: 'ms p50',
        referenceName: 'relay, bare Hocuspocus',
        target: { atMost: 2 },
      }),
    ]
  },
}
