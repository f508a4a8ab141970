import * as Y from 'yjs'
import type { Bench, Corkboard, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import { makePast, type PastBytes } from '../past.ts'
import { formatNumber } from '../table.ts'
import { withTables } from '../tables.ts'
import { cpuOf, settled } from './cpu.ts'

const cards = 10_000
/** With this many, the past has bases already. */
const fewUpdates = 50_000
const manyUpdates = Number(process.env.BENCH_HISTORY_UPDATES ?? 1_000_000)
/** Places in the past, as shares of all updates. */
const places = [0.3, 0.55, 0.8]

/**
 * The past of a board, in CPU time of the service. The newest state is rebuilt from the snapshot, which is what loading
 * the board costs. The board with few updates begins with the document that the other one has after all of its updates.
 */
export const history: Measure = {
  name: 'history',
  summary: 'a past state of 10,000 cards against the newest, after 1,000,000 updates, and bytes per update',
  needsCorkboard: true,
  run: (bench) =>
    withTables(bench, async (sql): Promise<Row[]> => {
      const corkboard = await bench.corkboard()
      const [few, many] = (await corkboard.createBoards(2)) as [string, string]
      const options = { sql, dataDir: corkboard.dataDir, document: new Y.Doc(), cards }
      bench.progress(`writing a past of ${formatNumber(manyUpdates)} updates`)
      const bytes = await makePast({ ...options, board: many, updates: manyUpdates })
      await makePast({ ...options, board: few, updates: fewUpdates })
      await settled(corkboard)
      return [
        await pastRow(bench, corkboard, many),
        await yearRow(bench, corkboard, few, many),
        ...bytesRows(bytes),
      ]
    }),
}

const newest = 1

async function pastRow(bench: Bench, corkboard: Corkboard, board: string): Promise<Row> {
  const compared = await compare(
    bench,
    'a past state',
    {
      subject: () => cpuOfPasts(corkboard, board, manyUpdates, places),
      reference: () => cpuOfPasts(corkboard, board, manyUpdates, [newest, newest, newest]),
    },
    describe,
  )
  return rowOf(compared, (ms) => ms, {
    name: `as_of, board of ${formatNumber(cards)}`,
    unit: 'ms CPU',
    referenceName: 'the newest state',
    target: { atMost: 2 },
  })
}

async function yearRow(bench: Bench, corkboard: Corkboard, few: string, many: string): Promise<Row> {
  const compared = await compare(
    bench,
    `among ${formatNumber(manyUpdates)} updates`,
    {
      subject: () => cpuOfPasts(corkboard, many, manyUpdates, places),
      reference: () => cpuOfPasts(corkboard, few, fewUpdates, places),
    },
    describe,
  )
  return rowOf(compared, (ms) => ms, {
    name: `as_of, ${formatNumber(manyUpdates)} updates`,
    unit: 'ms CPU',
    referenceName: `${formatNumber(fewUpdates)} updates`,
    target: { atMost: 1.2 },
  })
}

const describe = (ms: number) => `${formatNumber(ms)} ms of CPU`

/** The mean CPU time of a request for one card of these states. */
async function cpuOfPasts(
  corkboard: Corkboard,
  board: string,
  updates: number,
  shares: number[],
): Promise<number> {
  let cpuMs = 0
  for (const share of shares) {
    const position = Math.floor(updates * share) + (share === newest ? 1 : 0)
    cpuMs += await cpuOf(corkboard, () => readPast(corkboard, board, position))
  }
  return cpuMs / shares.length
}

async function readPast({ api }: Corkboard, board: string, position: number): Promise<void> {
  const response = await fetch(`${api.root}/boards/${board}/cards?limit=1&as_of=${position}`, {
    headers: { authorization: `Bearer ${api.token}` },
  })
  const { total } = (await response.json()) as { total: number }
  if (total !== cards) throw new Error(`as_of=${position} answered ${response.status} with ${total} cards`)
}

function bytesRows({ archived, raw, notCollected }: PastBytes): Row[] {
  const row = (reference: number, referenceName: string, atMost: number) =>
    rowOf({ subject: [archived], reference: [reference] }, (bytes) => bytes, {
      name: 'bytes per archived update',
      unit: 'bytes',
      referenceName,
      target: { atMost },
    })
  return [row(raw, 'row of the log', 1), row(notCollected, 'Y.Doc that keeps all', 2.5)]
}
