import type { Bench, Measure } from '../bench.ts'
import { median } from '../compare.ts'
import type { Corkboard } from '../corkboard.ts'
import type { BroadcastJob } from '../load/jobs.ts'
import { describeCosts, describeModel, type Costs } from './capacity-model.ts'
import { commitLimit, countCommits } from './commit-limit.ts'
import { settledMemory } from './memory.ts'

const sockets = 500
const warmUpBoards = 20
/** Boards on which editors send at the same moment. */
const busyBoards = 50

/** What each part of the work costs a node, and how many nodes a number of editors needs. Prints no ratios. */
export const capacity: Measure = {
  name: 'capacity',
  summary: 'what a node carries: CPU and memory of each part of its work, and the nodes that --editors need',
  needsCorkboard: true,
  async run(bench) {
    const runs: Costs[] = []
    const { nodes, databaseUrl, stop } = await bench.startNodes(1)
    const node = nodes[0]!
    try {
      await warmUp(bench, node)
      for (let run = 0; run < bench.runs; run++) {
        const costs = await measure(bench, node, databaseUrl)
        runs.push(costs)
        bench.progress(`capacity, run ${run + 1} of ${bench.runs}: ${JSON.stringify(costs)}`)
      }
      const costs = medians(runs)
      bench.note(describeCosts(costs, bench.runs))
      bench.note(await commitLimit(databaseUrl, (count) => node.createBoards(count), bench.seconds))
      bench.note(describeModel(costs, bench.model))
    } finally {
      await stop()
    }
    return []
  },
}

/** The first connections and edits also compile code, and allocate memory that all share. They must not count. */
async function warmUp(bench: Bench, node: Corkboard): Promise<void> {
  await bench.load.run('hold', {
    server: node.editors,
    boards: await node.createBoards(warmUpBoards),
    editorsPerBoard: 1,
  })
  await bench.load.run('release', null)
  await spend(bench, node, { boards: busyBoards, what: 'edits', perSecond: Infinity })
  await spend(bench, node, { boards: busyBoards, what: 'cursors', perSecond: 20 })
}

async function measure(bench: Bench, node: Corkboard, databaseUrl: string): Promise<Costs> {
  const idle = await idleMsPerSecond(bench, node)
  const before = (await settledMemory(node)).rss
  const [crowded] = await node.createBoards(1)
  await bench.load.run('hold', { server: node.editors, boards: [crowded!], editorsPerBoard: sockets })
  const socketBytes = ((await settledMemory(node)).rss - before) / sockets
  const socketMs = Math.max(0, ((await idleMsPerSecond(bench, node)) - idle) / sockets)
  const toCrowd = (what: 'edits' | 'cursors') =>
    spend(bench, node, { boards: [crowded!], what, perSecond: 10 }, idle + socketMs * sockets)
  const editsOut = await toCrowd('edits')
  const cursorsOut = await toCrowd('cursors')
  await bench.load.run('release', null)

  const withBoards = (await settledMemory(node)).rss
  const boards = await node.createBoards(sockets)
  await bench.load.run('hold', { server: node.editors, boards, editorsPerBoard: 1 })
  const boardBytes = Math.max(0, ((await settledMemory(node)).rss - withBoards) / sockets - socketBytes)
  const boardMs = Math.max(0, ((await idleMsPerSecond(bench, node)) - idle) / sockets - socketMs)
  await bench.load.run('release', null)

  // One editor: each edit is a commit. Many editors: a commit has edits of many. Two equations give the two costs.
  const commits = () => countCommits(databaseUrl)
  const spendAndCount = async (given: Sending) => {
    const from = await commits()
    const spent = await spend(bench, node, given, idle)
    return { perEdit: spent.cpuMs / spent.sent, commits: ((await commits()) - from) / spent.sent, spent }
  }
  const alone = await spendAndCount({ boards: 1, what: 'edits', perSecond: 25 })
  const many = await spendAndCount({ boards: busyBoards, what: 'edits', perSecond: Infinity })
  const commitMs = (alone.perEdit - many.perEdit) / (alone.commits - many.commits)
  const editMs = Math.max(0, many.perEdit - many.commits * commitMs)
  const cursors = await spend(bench, node, { boards: busyBoards, what: 'cursors', perSecond: 20 }, idle)
  const cursorMs = cursors.cpuMs / cursors.sent
  const editOutMs = (editsOut.cpuMs - editsOut.sent * alone.perEdit) / editsOut.delivered
  const cursorOutMs = (cursorsOut.cpuMs - cursorsOut.sent * cursorMs) / cursorsOut.delivered
  return {
    nodeMs: idle,
    nodeBytes: before,
    socketMs,
    socketBytes,
    boardMs,
    boardBytes,
    editMs,
    commitMs,
    cursorMs,
    editOutMs,
    cursorOutMs,
    commitsPerSecond: (many.commits * many.spent.sent) / many.spent.seconds,
    editsPerSecond: many.spent.sent / many.spent.seconds,
  }
}

type Sending = Pick<BroadcastJob, 'what' | 'perSecond'> & { boards: number | string[] }

/** @returns what was sent, and the CPU time for it: without `idleMs`, which the node uses each second anyway */
async function spend(bench: Bench, node: Corkboard, sending: Sending, idleMs = 0) {
  const { boards: wanted, what, perSecond } = sending
  const boards = typeof wanted === 'number' ? await node.createBoards(wanted) : wanted
  const from = performance.now()
  const cpuBefore = await node.cpuMs()
  const job = { server: node.editors, boards, what, perSecond, seconds: bench.seconds }
  const { sent, delivered } = await bench.load.run('broadcast', job)
  const seconds = (performance.now() - from) / 1000
  return { sent, delivered, seconds, cpuMs: (await node.cpuMs()) - cpuBefore - idleMs * seconds }
}

/** CPU milliseconds a second of a node to which nobody sends anything. */
async function idleMsPerSecond(bench: Bench, node: Corkboard): Promise<number> {
  const { cpuMs, seconds } = await spend(bench, node, { boards: [], what: null, perSecond: 0 })
  return cpuMs / seconds
}

function medians(runs: Costs[]): Costs {
  const entries = Object.keys(runs[0]!).map((name) => [
    name,
    median(runs.map((run) => run[name as keyof Costs])),
  ])
  return Object.fromEntries(entries) as Costs
}
