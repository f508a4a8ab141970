/** The costs of a node's work, and the model that computes nodes from them. docs/scale.md explains both. */
import type { Model } from '../bench.ts'
import { formatNumber } from '../table.ts'

/** Milliseconds of CPU time, and bytes of memory. */
export interface Costs {
  /** Each second of a node that does nothing, and its memory. */
  nodeMs: number
  nodeBytes: number
  /** Each second of an idle socket. */
  socketMs: number
  socketBytes: number
  /** Each second of an idle board that is open. */
  boardMs: number
  boardBytes: number
  /** An edit that comes in, without its commit. */
  editMs: number
  commitMs: number
  /** A cursor position that comes in. */
  cursorMs: number
  /** A frame that goes out to one editor: an edit, or the cursors of a board. */
  editOutMs: number
  cursorOutMs: number
  /** Of one node in a closed loop. */
  commitsPerSecond: number
  editsPerSecond: number
}

/** A node works on one core. Half of it is left for bursts, joins and requests. */
const usableMsPerSecond = 500
const usableBytes = 1.5e9
/** The cursors of a board go out in at most one frame every 50 ms, or 100 ms from 50 canvases on. */
const mostCursorFrames = (canvases: number): number => (canvases < 50 ? 20 : 10)

export interface Need {
  cpuMsPerSecond: number
  memoryBytes: number
  nodes: number
}

/** How many nodes these editors need. One of them may be gone. */
export function nodesFor(costs: Costs, model: Model): Need {
  const { editors, editorsPerBoard } = model
  const boards = editors / editorsPerBoard
  const working = editors * model.activeShare
  const edits = working * model.editsPerSecond
  const cursors = working * model.cursorsPerSecond
  const others = editorsPerBoard - 1
  const cursorFrames = Math.min(mostCursorFrames(editorsPerBoard), cursors / boards)
  const cpuMsPerSecond =
    editors * costs.socketMs +
    boards * costs.boardMs +
    edits * (costs.editMs + others * costs.editOutMs) +
    Math.min(edits, costs.commitsPerSecond) * costs.commitMs +
    cursors * costs.cursorMs +
    (others > 0 ? boards * cursorFrames * editorsPerBoard * costs.cursorOutMs : 0)
  const memoryBytes = editors * costs.socketBytes + boards * costs.boardBytes
  const nodes =
    1 +
    Math.max(
      1,
      Math.ceil(cpuMsPerSecond / (usableMsPerSecond - costs.nodeMs)),
      Math.ceil(memoryBytes / (usableBytes - costs.nodeBytes)),
    )
  return { cpuMsPerSecond, memoryBytes, nodes }
}

const cpu = (ms: number) => (ms >= 1 ? `${formatNumber(ms)} ms` : `${formatNumber(ms * 1000)} µs`)
const bytes = (size: number) =>
  size >= 1e6 ? `${formatNumber(size / 1e6)} MB` : `${formatNumber(size / 1e3)} KB`

export function describeCosts(costs: Costs, runs: number): string {
  const lines: [string, string, string][] = [
    ['', 'CPU', 'memory'],
    ['a node that does nothing', `${cpu(costs.nodeMs)}/s`, bytes(costs.nodeBytes)],
    ['an idle socket', `${cpu(costs.socketMs)}/s`, bytes(costs.socketBytes)],
    ['an idle open board', `${cpu(costs.boardMs)}/s`, bytes(costs.boardBytes)],
    ['an edit in', cpu(costs.editMs), ''],
    ['a commit', cpu(costs.commitMs), ''],
    ['an edit out, to one editor', cpu(costs.editOutMs), ''],
    ['a cursor position in', cpu(costs.cursorMs), ''],
    ['a frame of cursors out, to one editor', cpu(costs.cursorOutMs), ''],
  ]
  const text = lines.map(([what, time, size]) =>
    `${what.padEnd(40)}${time.padStart(12)}${size.padStart(12)}`.trimEnd(),
  )
  const most =
    `One node in a closed loop: ${formatNumber(costs.editsPerSecond)} edits/s in ` +
    `${formatNumber(costs.commitsPerSecond)} commits/s.`
  return [`What work costs a node, medians of ${runs}:`, ...text, most].join('\n')
}

export function describeModel(costs: Costs, model: Model): string {
  const { cpuMsPerSecond, memoryBytes, nodes } = nodesFor(costs, model)
  const { editors, editorsPerBoard, activeShare, editsPerSecond, cursorsPerSecond } = model
  return (
    `${formatNumber(editors)} editors, ${editorsPerBoard} on a board, ${formatNumber(activeShare * 100)} % of them ` +
    `working with ${editsPerSecond} edits and ${cursorsPerSecond} cursor positions a second:\n` +
    `${cpu(cpuMsPerSecond)} of CPU a second and ${bytes(memoryBytes)}, so ${nodes} nodes, of which one may be gone.`
  )
}
