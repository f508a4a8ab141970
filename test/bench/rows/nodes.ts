import type { Bench, Corkboard, EditorServer, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { runningRedis } from '../../support/redis-server.ts'

const editsPerRun = 100
const requestsPerRun = 100
/** Observers of one board, over all nodes. */
const crowd = 600
/** More than one node gives to one account. */
const crowdSettings = { MAX_SOCKETS_PER_ACCOUNT_ON_BOARD: '1000' }

const peerName = 'Hocuspocus with Redis'

const cursors = [
  { name: 'cursor that begins to move', count: 15, everyMs: 700, waits: true },
  { name: 'cursor in motion', count: 100, everyMs: 50, waits: false },
]

/** What several nodes cost beside one: time from node to node, and CPU for each delivered frame. */
export const nodes: Measure = {
  name: 'nodes',
  summary: 'several nodes on one database: time from node to node, and CPU for each frame',
  needsCorkboard: true,
  async run(bench) {
    const rows = await between(bench, 'NOTIFY', {}, 60)
    const redis = await runningRedis()
    try {
      rows.push(...(await between(bench, 'Redis', { REDIS_URL: redis.url }, 20)))
      rows.push(...(await fanOut(bench, redis.url)))
      return rows
    } finally {
      await redis.close()
    }
  },
}

/** @param editMs the most that an edit may take from node to node */
async function between(
  bench: Bench,
  driver: string,
  settings: Record<string, string>,
  editMs: number,
): Promise<Row[]> {
  const started = await bench.startNodes(2, settings)
  const [here, there] = started.nodes as [Corkboard, Corkboard]
  try {
    return [
      await edits(bench, driver, here, there, editMs),
      ...(await cursorRows(bench, driver, here, there)),
      await writes(bench, driver, here, there),
    ]
  } finally {
    await started.stop()
  }
}

const describeMs = ({ p50Ms }: { p50Ms: number }) => `p50 ${formatNumber(p50Ms)} ms`

async function edits(
  bench: Bench,
  driver: string,
  here: Corkboard,
  there: Corkboard,
  atMostHere: number,
): Promise<Row> {
  const name = `edit on A until on a canvas of B, ${driver}`
  const shown = (viewer: Corkboard) => async () =>
    bench.load.run('screen', {
      server: here.editors,
      viewer: viewer.editors,
      board: (await here.createBoards(1))[0]!,
      api: null,
      count: editsPerRun,
    })
  const compared = await compare(bench, name, { subject: shown(there), reference: shown(here) }, describeMs)
  const about = { name, unit: 'ms p50', referenceName: 'canvas of A', target: { atMostHere } }
  return rowOf(compared, ({ p50Ms }) => p50Ms, about)
}

async function cursorRows(bench: Bench, driver: string, here: Corkboard, there: Corkboard): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name: what, ...motion } of cursors) {
    const name = `${what}, from A to B, ${driver}`
    const shown = (viewer: Corkboard) => async () =>
      bench.load.run('cursor', {
        from: here.editors,
        to: viewer.editors,
        board: (await here.createBoards(1))[0]!,
        ...motion,
      })
    const compared = await compare(bench, name, { subject: shown(there), reference: shown(here) }, describeMs)
    const about = { name, unit: 'ms p50', referenceName: 'canvas of A', target: { atMostHere: 120 } }
    rows.push(rowOf(compared, ({ p50Ms }) => p50Ms, about))
  }
  return rows
}

/** A write on A of a board that B has open, and one of a board that is not open: both in turn. */
async function writes(bench: Bench, driver: string, here: Corkboard, there: Corkboard): Promise<Row> {
  const name = `API write of a board open on another node, ${driver}`
  const subject: number[] = []
  const reference: number[] = []
  for (let run = 0; run < bench.runs; run++) {
    const boards = await here.createBoards(2)
    await bench.load.run('hold', { server: there.editors, boards: [boards[0]!], editorsPerBoard: 1 })
    const post = (board: string) => ({ method: 'POST' as const, path: `/boards/${board}/cards`, cards: 1 })
    const { firstP50Ms, secondP50Ms } = await bench.load.run('alternate', {
      api: here.api,
      first: post(boards[0]!),
      second: post(boards[1]!),
      count: requestsPerRun,
    })
    await bench.load.run('release', null)
    subject.push(firstP50Ms)
    reference.push(secondP50Ms)
    bench.progress(
      `${name}, run ${run + 1} of ${bench.runs}: ${formatNumber(firstP50Ms)} ms, not open ${formatNumber(secondP50Ms)} ms`,
    )
  }
  const about = { name, unit: 'ms p50', referenceName: 'a board not open', target: { atMost: 1.3 } }
  return rowOf({ subject, reference }, (ms) => ms, about)
}

/** CPU time of all nodes for each frame that reaches an observer, with the observers spread over 1, 2 and 3 nodes. */
async function fanOut(bench: Bench, redisUrl: string): Promise<Row[]> {
  const ours = await perFrame('Corkboard', bench, (count) => bench.startNodes(count, crowdSettings))
  const theirs = await perFrame(peerName, bench, (count) => startPeers(bench, count, redisUrl))
  const row = (count: number, reference: number[], referenceName: string, atMost: number) => {
    const nodes = count === 1 ? 'one node' : `${count} nodes`
    const name = `server CPU for each delivered frame, ${nodes}, ${crowd} observers`
    const about = { name, unit: 'µs', referenceName, target: { atMost } }
    return rowOf({ subject: ours.get(count)!, reference }, (microseconds) => microseconds, about)
  }
  return [
    ...[2, 3].map((count) => row(count, ours.get(1)!, 'one node', 1.15)),
    ...[1, 2, 3].map((count) => row(count, theirs.get(count)!, peerName, 1.2)),
  ]
}

/** @returns for each number of nodes, microseconds for each frame of each run */
async function perFrame(
  name: string,
  bench: Bench,
  start: (count: number) => Promise<{ nodes: EditorServer[]; stop(): Promise<void> }>,
): Promise<Map<number, number[]>> {
  const costs = new Map<number, number[]>()
  for (const count of [1, 2, 3]) {
    const started = await start(count)
    try {
      costs.set(count, await frameCosts(name, bench, started.nodes))
    } finally {
      await started.stop()
    }
  }
  return costs
}

async function startPeers(bench: Bench, count: number, redisUrl: string) {
  await using started = new AsyncDisposableStack()
  const nodes: EditorServer[] = []
  for (let node = 0; node < count; node++) {
    const peer = await bench.freshEditorPeer('hocuspocus', redisUrl)
    nodes.push(started.adopt(peer, (peer) => peer.stop()))
  }
  const all = started.move()
  return { nodes, stop: async () => all.disposeAsync() }
}

/** @returns microseconds for each frame, of each run, without what idle nodes use */
async function frameCosts(name: string, bench: Bench, all: EditorServer[]): Promise<number[]> {
  const costs: number[] = []
  for (let run = -1; run < bench.runs; run++) {
    const [board] = await all[0]!.createBoards(1)
    for (const node of all)
      await bench.load.run('hold', {
        server: node.editors,
        boards: [board!],
        editorsPerBoard: crowd / all.length,
      })
    const measured = async (what: 'edits' | null) => {
      // Reading the memory collects garbage. Otherwise Node does that some seconds after the joins, in any of these
      // measures: 60 to 150 ms of CPU time on a node, as much as 10 to 20 edits.
      await Promise.all(all.map((node) => node.memory()))
      const before = await cpuOf(all)
      const job = { server: all[0]!.editors, boards: [board!], what, perSecond: 25, seconds: bench.seconds }
      const { sent, delivered } = await bench.load.run('broadcast', job)
      return { cpuMs: (await cpuOf(all)) - before, sent, delivered }
    }
    const idle = await measured(null)
    const busy = await measured('edits')
    await bench.load.run('release', null)
    if (run < 0) continue // warm-up
    const cost = ((busy.cpuMs - idle.cpuMs) * 1000) / busy.delivered
    costs.push(cost)
    bench.progress(
      `${name}, ${all.length} nodes, run ${run + 1} of ${bench.runs}: ${formatNumber(cost)} µs a frame; ${busy.sent} edits, ` +
        `${busy.delivered} frames, ${formatNumber(busy.cpuMs)} ms of CPU, idle ${formatNumber(idle.cpuMs)} ms`,
    )
  }
  return costs
}

async function cpuOf(all: EditorServer[]): Promise<number> {
  const times = await Promise.all(all.map((node) => node.cpuMs()))
  return times.reduce((sum, ms) => sum + ms, 0)
}
