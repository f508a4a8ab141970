import { compare, rowOf } from '../compare.ts'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { describeThroughput } from './describe.ts'

const shapes = [
  { name: '50 editors on one board', boards: 1, editorsPerBoard: 50, atLeast: 5 },
  { name: '50 boards x 2 editors', boards: 50, editorsPerBoard: 2, atLeast: 1.2 },
]

/**
 * Edits until another editor receives them. y-websocket has no acknowledgements, so its loop waits only for the relay.
 * If the server acknowledges edits, the loop also waits for the acknowledgement. So the ratio compares a durable relay
 * with one without guarantees.
 */
export const relaySeen: Measure = {
  name: 'y-websocket',
  summary: 'edits seen by another editor against @y/websocket-server',
  needsCorkboard: false,
  async run(bench) {
    const subject = await bench.editorSubject('y-websocket')
    const reference = await bench.editorPeer('y-websocket')
    const rows: Row[] = []
    for (const { name, boards, editorsPerBoard, atLeast } of shapes) {
      const side = (server: EditorServer) => () => seenEdits(bench, server, boards, editorsPerBoard)
      const compared = await compare(
        bench,
        `edits seen by another, ${name}`,
        { subject: side(subject), reference: side(reference) },
        describeThroughput,
      )
      rows.push(
        rowOf(compared, (run) => run.perSecond, {
          name: `edits seen by another, ${name}`,
          unit: 'edits/s',
          referenceName: '@y/websocket-server',
          target: { atLeast },
        }),
      )
    }
    return rows
  },
}

async function seenEdits(bench: Bench, server: EditorServer, boards: number, editorsPerBoard: number) {
  return bench.load.run('relay', {
    server: server.editors,
    boards: await server.createBoards(boards),
    editorsPerBoard,
    firstEditor: 0,
    done: server.editors.protocol === 'y-websocket' ? 'relayed' : 'acknowledged and relayed',
    inFlight: 8,
    seconds: bench.seconds,
  })
}
