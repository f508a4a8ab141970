import { compare, rowOf } from '../compare.ts'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { describeThroughput } from './describe.ts'

/**
 * Edits in flight per editor. A user who types does not wait for acknowledgements. One at a time is the hardest case.
 * `atLeast` is for one board, then for many.
 */
const shapes = [
  { inFlight: 8, atLeast: [4, 2.5] },
  { inFlight: 1, atLeast: [1.4, 1] },
].flatMap(({ inFlight, atLeast: [ofOne, ofMany] }) => [
  {
    name: `50 editors on one board, ${inFlight} in flight`,
    boards: 1,
    editorsPerBoard: 50,
    inFlight,
    atLeast: ofOne!,
  },
  {
    name: `50 boards x 2 editors, ${inFlight} in flight`,
    boards: 50,
    editorsPerBoard: 2,
    inFlight,
    atLeast: ofMany!,
  },
])
type Shape = (typeof shapes)[number]

/**
 * Edits until their acknowledgement. Corkboard acknowledges after the commit, and Hocuspocus when the edit is in
 * memory.
 */
export const relayDurable: Measure = {
  name: 'relay',
  summary: 'acknowledged edits against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    const subject = await bench.editorSubject('hocuspocus')
    const reference = await bench.editorPeer('hocuspocus')
    const rows: Row[] = []
    for (const shape of shapes) {
      const { name, atLeast } = shape
      const side = (server: EditorServer) => () => acknowledgedEdits(bench, server, shape)
      const compared = await compare(
        bench,
        `acknowledged edits, ${name}`,
        { subject: side(subject), reference: side(reference) },
        describeThroughput,
      )
      const about = { name: `edits, ${name}`, referenceName: 'bare Hocuspocus' }
      rows.push(
        rowOf(compared, (run) => run.perSecond, { ...about, unit: 'edits/s', target: { atLeast } }),
        rowOf(compared, (run) => run.p99Ms, { ...about, unit: 'ms p99', target: { atMost: 1.2 } }),
      )
    }
    return rows
  },
}

async function acknowledgedEdits(bench: Bench, server: EditorServer, shape: Shape) {
  return bench.load.run('relay', {
    server: server.editors,
    boards: await server.createBoards(shape.boards),
    editorsPerBoard: shape.editorsPerBoard,
    firstEditor: 0,
    done: 'acknowledged',
    inFlight: shape.inFlight,
    seconds: bench.seconds,
  })
}
