import { compare, rowOf } from '../compare.ts'
import type { CardServer, EditorServer, Measure } from '../bench.ts'
import { formatNumber } from '../table.ts'

const changesPerRun = 500

/**
 * Time from sending a POST until an editor's socket receives the card, compared with an edit of another editor, and with
 * the answer to a bare insert.
 */
export const screen: Measure = {
  name: 'screen',
  summary: "an API write on a peer's screen against a relay of bare Hocuspocus, and against a bare insert",
  needsCorkboard: true,
  async run(bench) {
    const corkboard = await bench.corkboard()
    const hocuspocus = await bench.editorPeer('hocuspocus')
    const insertHandler = await bench.insertHandler()
    const name = "API write on a peer's screen"
    const seen = async (server: EditorServer & Partial<CardServer>) =>
      bench.load.run('screen', {
        server: server.editors,
        board: (await server.createBoards(1))[0]!,
        api: server.api ?? null,
        count: changesPerRun,
      })
    const inserted = async () =>
      bench.load.run('requests', {
        api: insertHandler.api,
        requests: (await insertHandler.createBoards(1)).map((board) => ({
          ...{ method: 'POST', path: `/boards/${board}/cards`, cards: 1 },
        })),
        connections: 1,
        until: { count: changesPerRun },
      })
    const subject = () => seen(corkboard)
    const describe = ({ p50Ms }: { p50Ms: number }) => `p50 ${formatNumber(p50Ms)} ms`
    const relayed = await compare(bench, name, { subject, reference: () => seen(hocuspocus) }, describe)
    await inserted() // warm-up; the relays have warmed up Corkboard
    const stored = await compare(bench, name, { subject, reference: inserted }, describe)
    const about = { name, unit: 'ms p50' }
    return [
      rowOf(relayed, ({ p50Ms }) => p50Ms, {
        ...{ ...about, referenceName: 'relay, bare Hocuspocus', target: { atMost: 2 } },
      }),
      rowOf(stored, ({ p50Ms }) => p50Ms, {
        ...{ ...about, referenceName: 'bare insert', target: { atMost: 1.5 } },
      }),
    ]
  },
}
