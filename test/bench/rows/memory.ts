import { compare, rowOf } from '../compare.ts'
import type { Bench, EditorServer, Measure, MemoryBytes, Row } from '../bench.ts'
import { formatNumber } from '../table.ts'

const editors = 500
const warmUpBoards = 20
const settleEveryMs = 500
const settleAttempts = 30
const settledShare = 0.002

const shapes = [
  { name: 'memory of an idle open board with its editor', boards: editors, editorsPerBoard: 1 },
  { name: 'memory of one more idle editor on a board', boards: 1, editorsPerBoard: editors },
]

/** Memory growth of the server process. Each row uses a new process, because freed memory would hide the growth. */
export const memory: Measure = {
  name: 'memory',
  summary: 'memory of idle boards and editors against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    const rows: Row[] = []
    for (const { name, boards, editorsPerBoard } of shapes) {
      const compared = await compare(
        bench,
        name,
        {
          subject: async () =>
            growthPerEditor(bench, await bench.freshEditorSubject('hocuspocus'), boards, editorsPerBoard),
          reference: async () =>
            growthPerEditor(bench, await bench.freshEditorPeer('hocuspocus'), boards, editorsPerBoard),
        },
        (growth) =>
          `RSS ${formatNumber(growth.rss / 1024)} KB, heap ${formatNumber(growth.heapUsed / 1024)} KB`,
      )
      rows.push(
        rowOf(compared, (growth) => growth.rss / 1024, {
          name,
          unit: 'KB',
          referenceName: 'bare Hocuspocus',
          target: { atMost: 1.3 },
        }),
      )
    }
    return rows
  },
}

async function growthPerEditor(
  bench: Bench,
  server: EditorServer,
  boards: number,
  editorsPerBoard: number,
): Promise<MemoryBytes> {
  try {
    const address = server.editors
    // The first connections also allocate memory that all connections share. It must not count.
    const warmUp = await server.createBoards(warmUpBoards)
    await bench.load.run('hold', { server: address, boards: warmUp, editorsPerBoard: 1 })
    await bench.load.run('release', null)
    const ids = await server.createBoards(boards)
    const before = await settledMemory(server)
    await bench.load.run('hold', { server: address, boards: ids, editorsPerBoard })
    const after = await settledMemory(server)
    await bench.load.run('release', null)
    return {
      rss: (after.rss - before.rss) / editors,
      heapUsed: (after.heapUsed - before.heapUsed) / editors,
      external: (after.external - before.external) / editors,
    }
  } finally {
    await server.stop()
  }
}

/** What a server uses: its heap and its buffers. */
export const usedBytes = ({ heapUsed, external }: MemoryBytes): number => heapUsed + external

/** Collects garbage until the size of the process is stable. */
export async function settledMemory(server: EditorServer): Promise<MemoryBytes> {
  let last = await server.memory()
  for (let attempt = 0; attempt < settleAttempts; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, settleEveryMs))
    const now = await server.memory()
    if (Math.abs(now.rss - last.rss) < last.rss * settledShare) return now
    last = now
  }
  return last
}
