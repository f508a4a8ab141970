import type { Bench, Corkboard, EditorPeer, EditorServer, Measure, Row } from '../bench.ts'
import { compare, floorRowOf, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { runningRedis } from '../../support/redis-server.ts'

const editsPerRun = 100
const requestsPerRun = 400
/** Observers of one board, over all nodes. */
const crowd = 600
/** More than one node gives to one account. */
const crowdSettings = { MAX_SOCKETS_PER_ACCOUNT_ON_BOARD: '1000' }

/** The number of the run that is not counted. */
const warmUp = -1

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
  for (let run = warmUp; run < bench.runs; run++) {
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
    if (run === warmUp) continue
    subject.push(firstP50Ms)
    reference.push(secondP50Ms)
    bench.progress(
      `${name}, run ${run + 1} of ${bench.runs}: ${formatNumber(firstP50Ms)} ms, not open ${formatNumber(secondP50Ms)} ms`,
    )
  }
  const about = { name, unit: 'ms p50', referenceName: 'a board not open', target: { atMost: 1.3 } }
  return rowOf({ subject, reference }, (ms) => ms, about)
}

/** On how many of the nodes the observers are. */
const spreads = [1, 2, 3]

/** CPU time of all nodes for each frame that reaches an observer, with the observers spread over 1, 2 and 3 of them. */
async function fanOut(bench: Bench, redisUrl: string): Promise<Row[]> {
  const ours = await perFrame('Corkboard', bench, await bench.startNodes(spreads.length, crowdSettings))
  const theirs = await perFrame(peerName, bench, await startPeers(bench, 'hocuspocus', redisUrl))
  const floor = await perFrame('bare ws with Redis', bench, await startPeers(bench, 'ws', redisUrl))
  const about = (spread: number) => {
    const nodes = spread === 1 ? 'one node' : `${spread} nodes`
    return { name: `server CPU for each delivered frame, ${nodes}, ${crowd} observers`, unit: 'µs' }
  }
  const same = (microseconds: number) => microseconds
  const row = (spread: number, reference: number[], referenceName: string, atMost: number) =>
    rowOf({ subject: ours.get(spread)!, reference }, same, {
      ...about(spread),
      referenceName,
      target: { atMost },
    })
  return [
    ...[2, 3].map((spread) => row(spread, ours.get(1)!, 'one node', 1.15)),
    ...spreads.map((spread) => row(spread, theirs.get(spread)!, peerName, 1.2)),
    ...spreads.map((spread) =>
      floorRowOf({ subject: ours.get(spread)!, floor: floor.get(spread)! }, same, about(spread)),
    ),
  ]
}

/**
 * Measures all spreads in every run, so that a slower moment of the machine affects all.
 *
 * @returns for each spread, microseconds for each frame of each run
 */
async function perFrame(
  name: string,
  bench: Bench,
  { nodes, stop }: { nodes: EditorServer[]; stop(): Promise<void> },
): Promise<Map<number, number[]>> {
  const costs = new Map(spreads.map((spread): [number, number[]] => [spread, []]))
  try {
    for (let run = warmUp; run < bench.runs; run++) {
      for (const spread of run % 2 === 0 ? spreads : spreads.toReversed()) {
        const { cost, about } = await frameCost(bench, nodes, spread)
        if (run === warmUp) continue
        costs.get(spread)!.push(cost)
        bench.progress(`${name}, observers on ${spread}, run ${run + 1} of ${bench.runs}: ${about}`)
      }
    }
    return costs
  } finally {
    await stop()
  }
}

async function startPeers(bench: Bench, peer: EditorPeer, redisUrl: string) {
  await using started = new AsyncDisposableStack()
  const nodes: EditorServer[] = []
  for (const _ of spreads)
    nodes.push(started.adopt(await bench.freshEditorPeer(peer, redisUrl), (node) => node.stop()))
  const all = started.move()
  return { nodes, stop: async () => all.disposeAsync() }
}

/** @returns microseconds of all nodes for each frame, without what they use when idle */
async function frameCost(bench: Bench, all: EditorServer[], spread: number) {
  const [board] = await all[0]!.createBoards(1)
  for (const { editors } of all.slice(0, spread))
    await bench.load.run('hold', { server: editors, boards: [board!], editorsPerBoard: crowd / spread })
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
  const cost = ((busy.cpuMs - idle.cpuMs) * 1000) / busy.delivered
  const about =
    `${formatNumber(cost)} µs a frame; ${busy.sent} edits, ${busy.delivered} frames, ` +
    `${formatNumber(busy.cpuMs)} ms of CPU, idle ${formatNumber(idle.cpuMs)} ms`
  return { cost, about }
}

async function cpuOf(all: EditorServer[]): Promise<number> {
  const times = await Promise.all(all.map((node) => node.cpuMs()))
  return times.reduce((sum, ms) => sum + ms, 0)
}
