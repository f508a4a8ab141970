import type { Bench, CardServer, Corkboard, EditorServer, Measure, Row } from '../bench.ts'
import { compare, rowOf, type Compared } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { cpuOf, settled } from './cpu.ts'

const small = 100
const medium = 10_000
const large = 100_000
const textChars = 60
/** Of a card that `fill` writes. */
const cardBytes = 170
/** Small boards whose requests are measured, each once, and boards for the warm-up. */
const smallBoards = 10
const warmUpBoards = 5
const patchWithinMs = 120_000

interface Boards {
  small: string[]
  medium: string[]
  large: string
  warmUp: string[]
}

/** The first request and the first editor of a board that is not in memory. Each run uses a new node. */
export const cold: Measure = {
  name: 'cold',
  summary: `the first PATCH and the first editor of boards that are not in memory, up to ${formatNumber(large)} cards`,
  needsCorkboard: true,
  async run(bench) {
    const { nodes, add, stop } = await bench.startNodes(1)
    try {
      const [first] = nodes as [Corkboard]
      const boards = await fillBoards(bench, first)
      const rows = await coldPatch(bench, add, boards)
      return [...rows, ...(await opening(bench, add, boards))]
    } finally {
      await stop()
    }
  },
}

async function fillBoards(bench: Bench, server: EditorServer): Promise<Boards> {
  const ids = await server.createBoards(smallBoards + warmUpBoards + 3)
  const fill = async (cards: number) => {
    const board = ids.pop()!
    bench.progress(`filling a board of ${server.name} with ${formatNumber(cards)} cards`)
    const job = { server: server.editors, board, bytes: cards * cardBytes, textChars }
    await bench.load.run('fill', job)
    return board
  }
  const several = async (count: number) => {
    const boards: string[] = []
    while (boards.length < count) boards.push(await fill(small))
    return boards
  }
  const boards = {
    ...{ large: await fill(large), medium: [await fill(medium), await fill(medium)] },
    ...{ small: await several(smallBoards), warmUp: await several(warmUpBoards) },
  }
  await settled(server)
  return boards
}

interface Cost {
  ms: number
  cpuMs: number
}

async function coldPatch(bench: Bench, add: () => Promise<Corkboard>, boards: Boards): Promise<Row[]> {
  const compared: Compared<Cost> = { subject: [], reference: [] }
  const name = `a PATCH on a cold board of ${formatNumber(large)}`
  for (let run = 0; run < bench.runs; run++) {
    const node = await add()
    const costs: Cost[] = []
    for (const board of [...boards.warmUp, boards.medium[0]!]) await patch(node, board)
    await settled(node)
    for (const board of boards.small) costs.push(await patch(node, board))
    await settled(node)
    const subject = await patch(node, boards.large)
    const mean = (figure: (cost: Cost) => number) =>
      costs.reduce((sum, cost) => sum + figure(cost), 0) / costs.length
    const reference = { ms: mean(({ ms }) => ms), cpuMs: mean(({ cpuMs }) => cpuMs) }
    compared.subject.push(subject)
    compared.reference.push(reference)
    const shown = ({ ms, cpuMs }: Cost) => `${formatNumber(ms)} ms, ${formatNumber(cpuMs)} ms of CPU`
    bench.progress(
      `${name}, run ${run + 1} of ${bench.runs}: ${shown(subject)}; of ${small}: ${shown(reference)}`,
    )
    await node.stop()
  }
  const about = { name, referenceName: `cold board of ${small}`, target: { atMost: 3 } }
  return [
    rowOf(compared, ({ ms }) => ms, { ...about, unit: 'ms' }),
    rowOf(compared, ({ cpuMs }) => cpuMs, { ...about, unit: 'ms CPU' }),
  ]
}

/** A busy machine may need several attempts: a request does not wait for a large board as long as that takes. */
async function patch(server: CardServer, board: string): Promise<Cost> {
  let ms = 0
  const cpuMs = await cpuOf(server, async () => {
    const from = performance.now()
    while (!(await isPatched(server, board)))
      if (performance.now() - from > patchWithinMs) throw new Error('PATCH answers 503 for too long')
    ms = performance.now() - from
  })
  return { ms, cpuMs }
}

async function isPatched({ api }: CardServer, board: string): Promise<boolean> {
  const response = await fetch(`${api.root}/boards/${board}/cards/filled-7`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Patched' }),
  })
  const answer = await response.text()
  if (response.ok || response.status === 503) return response.ok
  throw new Error(`PATCH of a card answered ${response.status}: ${answer}`)
}

/** The first editor of a board makes the server load it. The reference loads it from PostgreSQL as well. */
async function opening(bench: Bench, add: () => Promise<Corkboard>, boards: Boards): Promise<Row[]> {
  const reference = await bench.databasePeer()
  const referenceBoards = await fillBoards(bench, reference)
  const rows: Row[] = []
  for (const [cards, key] of [
    [medium, 'medium'],
    [large, 'large'],
  ] as const) {
    const boardIn = (all: Boards) => (key === 'medium' ? all.medium[1]! : all.large)
    const name = `opening a board of ${formatNumber(cards)}`
    const compared = await compare(
      bench,
      name,
      {
        subject: async () => {
          const node = await add()
          try {
            return await opened(bench, node, boards.medium[0]!, boardIn(boards))
          } finally {
            await node.stop()
          }
        },
        reference: () => opened(bench, reference, referenceBoards.medium[0]!, boardIn(referenceBoards)),
      },
      ({ turnMs, cpuMs }) => `turn ${formatNumber(turnMs)} ms, ${formatNumber(cpuMs)} ms of CPU`,
    )
    const about = { referenceName: 'Hocuspocus with a database' }
    rows.push(
      rowOf(compared, ({ turnMs }) => turnMs, {
        ...{ ...about, name: `${name}: longest turn`, unit: 'ms CPU', target: { atMostHere: 50 } },
      }),
      rowOf(compared, ({ cpuMs }) => cpuMs, {
        ...{ ...about, name: `${name}: all of it`, unit: 'ms CPU', target: null },
      }),
    )
  }
  return rows
}

/** @param warmUp a board that is opened before, so that the code is compiled */
async function opened(bench: Bench, server: EditorServer, warmUp: string, board: string) {
  const open = (board: string) =>
    bench.load.run('hold', { server: server.editors, boards: [board], editorsPerBoard: 1 })
  await open(warmUp)
  await settled(server)
  let turnMs = 0
  const cpuMs = await cpuOf(server, async () => {
    ;({ longestCpuMs: turnMs } = await server.turns(() => open(board)))
  })
  await bench.load.run('release', null)
  await settled(server)
  return { turnMs, cpuMs }
}
