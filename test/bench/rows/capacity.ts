import type { Bench, Corkboard, Measure } from '../bench.ts'
import { median } from '../compare.ts'
import type { BroadcastJob } from '../load/jobs.ts'
import { describeCosts, describeModel, type Costs } from './capacity-model.ts'
import { commitLimit, countCommits } from './commit-limit.ts'
import { settledMemory, usedBytes } from './memory.ts'

/** One account may have 500 on a board. */
const sockets = 400
const warmUpBoards = 20
/** Boards on which editors send at the same moment. */
const busyBoards = 50
/** Each quiet socket gets two keep-alives in this time. */
const idleSeconds = 30

/** What each part of the work costs a node, and how many nodes a number of editors needs. Prints no ratios. */
export const capacity: Measure = {
  name: 'capacity',
  summary: 'what a node carries: CPU and memory of each part of its work, and the nodes that --editors need',
  needsCorkboard: true,
  async run(bench) {
    const runs: Costs[] = []
    for (let run = 0; run < bench.runs; run++) {
      const costs = await measure(bench)
      runs.push(costs)
      bench.progress(`capacity, run ${run + 1} of ${bench.runs}: ${JSON.stringify(costs)}`)
    }
    const costs = medians(runs)
    bench.note(describeCosts(costs, bench.runs))
    bench.note(
      await onNode(bench, (node, databaseUrl) =>
        commitLimit(databaseUrl, (count) => node.createBoards(count), bench.seconds),
      ),
    )
    bench.note(describeModel(costs, bench.model))
    return []
  },
}

/** Runs `work` on a new node. Memory that earlier work has freed would hide what later work needs. */
async function onNode<Result>(
  bench: Bench,
  work: (node: Corkboard, databaseUrl: string) => Promise<Result>,
): Promise<Result> {
  const { nodes, databaseUrl, stop } = await bench.startNodes(1)
  try {
    await warmUp(bench, nodes[0]!)
    const result = await work(nodes[0]!, databaseUrl)
    await bench.load.run('release', null)
    return result
  } finally {
    await stop()
  }
}

/** The first connections and edits also compile code, and allocate memory that all share. They must not count. */
async function warmUp(bench: Bench, node: Corkboard): Promise<void> {
  const boards = await node.createBoards(warmUpBoards)
  await bench.load.run('hold', { server: node.editors, boards, editorsPerBoard: 1 })
  await bench.load.run('release', null)
  await spend(bench, node, { boards: busyBoards, what: 'edits', perSecond: null })
  await spend(bench, node, { boards: busyBoards, what: 'cursors', perSecond: 20 })
}

async function measure(bench: Bench): Promise<Costs> {
  const crowd = await onNode(bench, async (node) => {
    const [board] = await node.createBoards(1)
    const held = await hold(bench, node, [board!], sockets)
    const withIdle = held.nodeMs + held.ms * sockets
    const send = (what: 'edits' | 'cursors') =>
      spend(bench, node, { boards: [board!], what, perSecond: 10 }, withIdle)
    return { held, edits: await send('edits'), cursors: await send('cursors') }
  })
  const boards = await onNode(bench, async (node) => hold(bench, node, await node.createBoards(sockets), 1))
  const writing = await onNode(bench, (node, databaseUrl) => costsOfWriting(bench, node, databaseUrl))
  const { edits, cursors, held } = crowd
  const { aloneMs, ...costs } = writing
  return {
    ...costs,
    nodeMs: held.nodeMs,
    nodeBytes: held.nodeBytes,
    socketMs: held.ms,
    socketBytes: held.bytes,
    boardMs: Math.max(0, boards.ms - held.ms),
    boardBytes: Math.max(0, boards.bytes - held.bytes),
    editOutMs: (edits.cpuMs - edits.sent * aloneMs) / edits.delivered,
    cursorOutMs: (cursors.cpuMs - cursors.sent * costs.cursorMs) / cursors.delivered,
  }
}

/** @returns what each held editor costs the node, which is idle, beside what the node uses without them */
async function hold(bench: Bench, node: Corkboard, boards: string[], editorsPerBoard: number) {
  const nodeMs = await idleMsPerSecond(bench, node)
  const before = await settledMemory(node)
  await bench.load.run('hold', { server: node.editors, boards, editorsPerBoard })
  // What a process has freed before it does not give back: its size says little about few sockets.
  const bytes = (usedBytes(await settledMemory(node)) - usedBytes(before)) / sockets
  const ms = Math.max(0, ((await idleMsPerSecond(bench, node)) - nodeMs) / sockets)
  return { nodeMs, nodeBytes: before.rss, bytes, ms }
}

/**
 * One editor and many, each as fast as they can: alone each edit is a commit, together many share one. Two equations give
 * the costs of an edit and of a commit. At a slow rate both cost more, because the process rests in between.
 */
async function costsOfWriting(bench: Bench, node: Corkboard, databaseUrl: string) {
  const idle = await idleMsPerSecond(bench, node)
  const edit = async (boards: number, perSecond: number | null) => {
    const before = await countCommits(databaseUrl)
    const { sent, cpuMs, seconds } = await spend(bench, node, { boards, what: 'edits', perSecond }, idle)
    return { sent, seconds, ms: cpuMs / sent, commits: ((await countCommits(databaseUrl)) - before) / sent }
  }
  const alone = await edit(1, 25)
  const one = await edit(1, null)
  const many = await edit(busyBoards, null)
  const commitMs = (one.ms - many.ms) / (one.commits - many.commits)
  const cursors = await spend(bench, node, { boards: busyBoards, what: 'cursors', perSecond: 20 }, idle)
  return {
    aloneMs: alone.ms,
    commitMs,
    editMs: Math.max(0, many.ms - many.commits * commitMs),
    cursorMs: cursors.cpuMs / cursors.sent,
    commitsPerSecond: (many.commits * many.sent) / many.seconds,
    editsPerSecond: many.sent / many.seconds,
  }
}

type Sending = Pick<BroadcastJob, 'what' | 'perSecond'> & { boards: number | string[]; seconds?: number }

/** @returns what was sent, and the CPU time for it: without `idleMs`, which the node uses each second anyway */
async function spend(bench: Bench, node: Corkboard, sending: Sending, idleMs = 0) {
  const { boards: wanted, what, perSecond } = sending
  const boards = typeof wanted === 'number' ? await node.createBoards(wanted) : wanted
  const from = performance.now()
  const cpuBefore = await node.cpuMs()
  const job = { server: node.editors, boards, what, perSecond, seconds: sending.seconds ?? bench.seconds }
  const { sent, delivered } = await bench.load.run('broadcast', job)
  const seconds = (performance.now() - from) / 1000
  return { sent, delivered, seconds, cpuMs: (await node.cpuMs()) - cpuBefore - idleMs * seconds }
}

/** CPU milliseconds a second of a node to which nobody sends anything. */
async function idleMsPerSecond(bench: Bench, node: Corkboard): Promise<number> {
  const idle = { boards: [], what: null, perSecond: 0, seconds: idleSeconds }
  const { cpuMs, seconds } = await spend(bench, node, idle)
  return cpuMs / seconds
}

function medians(runs: Costs[]): Costs {
  const entries = Object.keys(runs[0]!).map((name) => [
    name,
    median(runs.map((run) => run[name as keyof Costs])),
  ])
  return Object.fromEntries(entries) as Costs
}
