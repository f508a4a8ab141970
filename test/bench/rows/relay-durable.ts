import { compare, rowOf } from '../compare.ts'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { describeThroughput } from './describe.ts'

const shapes = [
  { name: '50 editors on one board', boards: 1, editorsPerBoard: 50, atLeast: 1.4 },
  { name: '50 boards x 2 editors', boards: 50, editorsPerBoard: 2, atLeast: 1.2 },
]

/** Edits until acknowledged: committed there, in memory here. */
export const relayDurable: Measure = {
  name: 'relay',
  summary: 'acknowledged edits against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    const subject = await bench.editorSubject('hocuspocus')
    const reference = await bench.editorPeer('hocuspocus')
    const rows: Row[] = []
    for (const { name, boards, editorsPerBoard, atLeast } of shapes) {
      const side = (server: EditorServer) => () => acknowledgedEdits(bench, server, boards, editorsPerBoard)
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

async function acknowledgedEdits(
  bench: Bench,
  server: EditorServer,
  boards: number,
  editorsPerBoard: number,
) {
  return bench.load.run('relay', {
    server: server.editors,
    boards: await server.createBoards(boards),
    editorsPerBoard,
    firstEditor: 0,
    done: 'acknowledged',
    seconds: bench.seconds,
  })
}
