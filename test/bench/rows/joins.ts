import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { compare, floorRowOf, rowOf } from '../compare.ts'
import type { JoinJob } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { cpuOf, settled } from './cpu.ts'

const megabyte = 1_000_000
/** Cards with few words make the most structs for their bytes. A board of 20 MB of them would have too many cards. */
const textChars = (megabytes: number) => (megabytes > 10 ? 500 : 60)

type Joins = Pick<JoinJob, 'rounds' | 'atOnce' | 'have' | 'edits'>

/** `hasFloor`: a bare `ws` does the same. It can't tell what a state vector lacks. */
const shapes: { name: string; megabytes: number; atMost: number; hasFloor: boolean; joins: Joins }[] = [
  {
    name: 'a join, warm',
    megabytes: 4,
    atMost: 0.1,
    hasFloor: true,
    joins: { rounds: 40, atOnce: 1, have: 'nothing', edits: false },
  },
  {
    name: 'a join after each edit',
    megabytes: 4,
    atMost: 0.2,
    hasFloor: true,
    joins: { rounds: 40, atOnce: 1, have: 'nothing', edits: true },
  },
  {
    name: 'a rejoin with a state vector',
    megabytes: 4,
    atMost: 0.4,
    hasFloor: false,
    joins: { rounds: 100, atOnce: 1, have: 'filled', edits: true },
  },
]

const peaks = [
  { joins: 50, megabytes: 4 },
  { joins: 150, megabytes: 4 },
  { joins: 50, megabytes: 20 },
  { joins: 150, megabytes: 20 },
]

/** What it costs to let editors in. Each run uses new processes, because memory that is free already would not count. */
export const joins: Measure = {
  name: 'joins',
  summary: 'CPU and memory of joins against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    const rows: Row[] = []
    for (const shape of shapes) rows.push(...(await cpuRows(bench, shape)))
    for (const { joins: count, megabytes } of peaks) rows.push(...(await atOnceRows(bench, count, megabytes)))
    return rows
  },
}

const sides = <Result>(bench: Bench, measure: (start: () => Promise<EditorServer>) => Promise<Result>) => ({
  subject: () => measure(bench.crowdSubject),
  reference: () => measure(() => bench.freshEditorPeer('hocuspocus')),
  floor: () => measure(() => bench.freshEditorPeer('ws')),
})

async function cpuRows(
  bench: Bench,
  { name: shapeName, megabytes, atMost, hasFloor, joins: shape }: (typeof shapes)[number],
): Promise<Row[]> {
  const name = `${shapeName}, ${megabytes} MB`
  const { subject, reference, floor } = sides(bench, (start) => cpuOfJoins(bench, start, megabytes, shape))
  const about = { name, unit: 'ms CPU' }
  const describe = (ms: number) => `${formatNumber(ms)} ms of CPU`
  const beside = { ...about, referenceName: 'bare Hocuspocus', target: { atMost } }
  if (!hasFloor)
    return [rowOf(await compare(bench, name, { subject, reference }, describe), (ms) => ms, beside)]
  const compared = await compare(bench, name, { subject, reference, floor }, describe)
  return [rowOf(compared, (ms) => ms, beside), floorRowOf(compared, (ms) => ms, about)]
}

/** Their memory, and the time until all have the board. */
async function atOnceRows(bench: Bench, count: number, megabytes: number): Promise<Row[]> {
  const what = `${count} joins at once, ${megabytes} MB`
  const { subject, reference } = sides(bench, (start) => joinAtOnce(bench, start, megabytes, count))
  const compared = await compare(
    bench,
    what,
    { subject, reference },
    ({ peakBytes, ms }) => `${formatNumber(peakBytes / megabyte)} MB, ${formatNumber(ms / 1000)} s`,
  )
  const about = { referenceName: 'bare Hocuspocus' }
  return [
    rowOf(compared, ({ peakBytes }) => peakBytes / megabyte, {
      ...{ ...about, name: `peak memory of ${what}`, unit: 'MB', target: { atMost: 0.1 } },
    }),
    rowOf(compared, ({ ms }) => ms / 1000, {
      ...about,
      name: `until all are in: ${what}`,
      unit: 's',
      target: null,
    }),
  ]
}

/** Runs `work` on a new server with a filled board that one editor holds open. */
async function onFilled<Result>(
  bench: Bench,
  start: () => Promise<EditorServer>,
  megabytes: number,
  work: (server: EditorServer, board: string) => Promise<Result>,
): Promise<Result> {
  const server = await start()
  try {
    const boards = await server.createBoards(2)
    for (const [n, board] of boards.entries()) {
      await bench.load.run('hold', { server: server.editors, boards: [board], editorsPerBoard: 1 })
      await bench.load.run('fill', {
        server: server.editors,
        board,
        bytes: n === 0 ? megabyte : megabytes * megabyte,
        textChars: textChars(megabytes),
      })
    }
    // The first joins compile code.
    const warmUp = { rounds: 5, atOnce: 10, have: 'nothing', edits: true } as const
    await bench.load.run('join', { server: server.editors, board: boards[0]!, ...warmUp })
    await settled(server)
    return await work(server, boards[1]!)
  } finally {
    await bench.load.run('release', null).catch(() => undefined)
    await server.stop()
  }
}

/** @returns ms of CPU time of one join, without that of the edits between them */
async function cpuOfJoins(bench: Bench, start: () => Promise<EditorServer>, megabytes: number, shape: Joins) {
  return onFilled(bench, start, megabytes, async (server, board) => {
    const job = { server: server.editors, board }
    const run = (joins: Joins) => cpuOf(server, () => bench.load.run('join', { ...job, ...joins }))
    // The first edit makes Corkboard merge what is left of the log of the filling. It rests before for up to 5 s.
    await delay(shape.edits ? 6000 : 0)
    await run({ ...shape, rounds: 3 })
    await settled(server)
    const cpuMs = await run(shape)
    const editsMs = shape.edits ? await run({ ...shape, atOnce: 0 }) : 0
    return (cpuMs - editsMs) / shape.rounds
  })
}

async function joinAtOnce(
  bench: Bench,
  start: () => Promise<EditorServer>,
  megabytes: number,
  count: number,
) {
  return onFilled(bench, start, megabytes, async (server, board) => {
    let ms = 0
    const peakBytes = await server.peakBytes(async () => {
      const from = performance.now()
      await bench.load.run('join', {
        ...{ server: server.editors, board },
        ...{ rounds: 1, atOnce: count, have: 'nothing', edits: false },
      })
      ms = performance.now() - from
    })
    return { peakBytes, ms }
  })
}
