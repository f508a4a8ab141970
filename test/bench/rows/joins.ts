import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import type { JoinJob } from '../load/jobs.ts'
import { formatNumber } from '../table.ts'
import { cpuOf, settled } from './cpu.ts'

const megabyte = 1_000_000
/** Cards with few words make the most structs for their bytes. A board of 20 MB of them would have too many cards. */
const textChars = (megabytes: number) => (megabytes > 10 ? 500 : 60)

type Joins = Pick<JoinJob, 'rounds' | 'atOnce' | 'have' | 'edits'>

const shapes: { name: string; megabytes: number; atMost: number; joins: Joins }[] = [
  {
    name: 'a join, warm',
    megabytes: 4,
    atMost: 0.1,
    joins: { rounds: 40, atOnce: 1, have: 'nothing', edits: false },
  },
  {
    name: 'a join after each edit',
    megabytes: 4,
    atMost: 0.2,
    joins: { rounds: 40, atOnce: 1, have: 'nothing', edits: true },
  },
  {
    name: 'a rejoin with a state vector',
    megabytes: 4,
    atMost: 0.4,
    joins: { rounds: 100, atOnce: 1, have: 'filled', edits: true },
  },
]

const peaks = [
  { joins: 50, megabytes: 4 },
  { joins: 150, megabytes: 20 },
]

/** What it costs to let editors in. Each run uses new processes, because memory that is free already would not count. */
export const joins: Measure = {
  name: 'joins',
  summary: 'CPU and memory of joins against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    const rows: Row[] = []
    for (const { name, megabytes, atMost, joins: shape } of shapes) {
      const side = (start: () => Promise<EditorServer>) => () => cpuOfJoins(bench, start, megabytes, shape)
      rows.push(await row(bench, `${name}, ${megabytes} MB`, 'ms CPU', atMost, side, (ms) => ms))
    }
    for (const { joins: count, megabytes } of peaks) {
      const side = (start: () => Promise<EditorServer>) => () => peakOfJoins(bench, start, megabytes, count)
      rows.push(
        await row(
          bench,
          `peak memory of ${count} joins at once, ${megabytes} MB`,
          'MB',
          0.1,
          side,
          (bytes) => bytes / megabyte,
        ),
      )
    }
    return rows
  },
}

async function row(
  bench: Bench,
  name: string,
  unit: string,
  atMost: number,
  side: (start: () => Promise<EditorServer>) => () => Promise<number>,
  shown: (figure: number) => number,
): Promise<Row> {
  const sides = {
    subject: side(bench.crowdSubject),
    reference: side(() => bench.freshEditorPeer('hocuspocus')),
  }
  const compared = await compare(bench, name, sides, (figure) => `${formatNumber(shown(figure))} ${unit}`)
  return rowOf(compared, shown, { name, unit, referenceName: 'bare Hocuspocus', target: { atMost } })
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

async function peakOfJoins(
  bench: Bench,
  start: () => Promise<EditorServer>,
  megabytes: number,
  count: number,
) {
  return onFilled(bench, start, megabytes, (server, board) =>
    server.peakBytes(() =>
      bench.load.run('join', {
        ...{ server: server.editors, board },
        ...{ rounds: 1, atOnce: count, have: 'nothing', edits: false },
      }),
    ),
  )
}
