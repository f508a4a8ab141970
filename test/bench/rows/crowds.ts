import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, EditorServer, Measure, Row } from '../bench.ts'
import { compare, floorRowOf, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { cpuOf, settled } from './cpu.ts'

const editsPerSecond = 25
/** For how long an edit or a cursor is measured in each run. */
const seconds = 6

/** People who are each alone on a board, and how often their cursors move: fewer frames than an account may send. */
const loneBoards = 40
const lonePerSecond = 25

const fanOuts = [
  { name: 'a lone edit', observers: 0, atMost: 2 },
  { name: 'an edit to 10 observers', observers: 10, atMost: 2 },
  { name: 'an edit to 100 observers', observers: 100, atMost: 1.4 },
  { name: 'an edit to 1,000 observers', observers: 1000, atMost: 1.2 },
]

const crowds = [
  { name: 'cursors of 100 people at 1 Hz', people: 100, perSecond: 1, moves: true, seconds, atMost: 0.4 },
  { name: 'cursors of 100 people at 10 Hz', people: 100, perSecond: 10, moves: true, seconds, atMost: 0.15 },
  { name: 'cursors of 500 people at 1 Hz', people: 500, perSecond: 1, moves: true, seconds, atMost: 0.4 },
  {
    name: 'keep-alives of 600 people',
    ...{ people: 600, perSecond: 1 / 15, moves: false, seconds: 30, atMost: 0.25 },
  },
]

/** What a board with many people on it costs: edits to all of them, and their cursors. */
export const crowdRows: Measure = {
  name: 'crowds',
  summary: 'CPU of edits and cursors on a board with many people, against bare Hocuspocus',
  needsCorkboard: false,
  async run(bench) {
    await using subject = await stopping(bench.crowdSubject())
    await using reference = await stopping(bench.freshEditorPeer('hocuspocus'))
    await using floor = await stopping(bench.freshEditorPeer('ws'))
    const sides = { subject: subject.server, reference: reference.server, floor: floor.server }
    const rows: Row[] = []
    for (const { name, observers, atMost } of fanOuts)
      rows.push(
        ...(await besideFloor(bench, sides, `CPU of ${name}`, atMost, (server) =>
          editMs(bench, server, observers, 1),
        )),
      )
    rows.push(...(await busyBoard(bench, sides)))
    const frameIn = 'CPU of an awareness frame in'
    rows.push(...(await besideFloor(bench, sides, frameIn, 0.25, (server) => frameInMs(bench, server))))
    for (const { name, atMost, ...shape } of crowds)
      rows.push(
        ...(await besideFloor(bench, sides, `CPU of ${name}`, atMost, (server) =>
          cursorMs(bench, server, shape),
        )),
      )
    return rows
  },
}

async function stopping(starting: Promise<EditorServer>) {
  const server = await starting
  return { server, [Symbol.asyncDispose]: () => server.stop() }
}

type Sides = Record<'subject' | 'reference' | 'floor', EditorServer>

async function besideFloor(
  bench: Bench,
  { subject, reference, floor }: Sides,
  name: string,
  atMost: number,
  measure: (server: EditorServer) => Promise<number>,
): Promise<Row[]> {
  for (const server of [subject, reference, floor]) await measure(server) // warm-up
  const sides = {
    subject: () => measure(subject),
    reference: () => measure(reference),
    floor: () => measure(floor),
  }
  const compared = await compare(bench, name, sides, (ms) => `${formatNumber(ms)} ms`)
  const about = { name, unit: 'ms CPU' }
  return [
    rowOf(compared, (ms) => ms, { ...about, referenceName: 'bare Hocuspocus', target: { atMost } }),
    floorRowOf(compared, (ms) => ms, about),
  ]
}

/** Holds observers on a new board while `work` runs. */
async function observed<Result>(
  bench: Bench,
  server: EditorServer,
  observers: number,
  work: (board: string) => Promise<Result>,
): Promise<Result> {
  const [board] = await server.createBoards(1)
  await bench.load.run('hold', { server: server.editors, boards: [board!], editorsPerBoard: observers })
  try {
    await settled(server)
    return await work(board!)
  } finally {
    await bench.load.run('release', null)
  }
}

/** @returns ms of CPU time of one edit, without what the server uses while nobody edits */
async function editMs(
  bench: Bench,
  server: EditorServer,
  observers: number,
  senders: number,
): Promise<number> {
  return observed(bench, server, observers, async (board) => {
    const idleMs = await cpuOf(server, () => delay(2000))
    const startMs = performance.now()
    let sent = 0
    const job = { server: server.editors, boards: [board], what: 'edits' as const, seconds, senders }
    const cpuMs = await cpuOf(server, async () => {
      ;({ sent } = await bench.load.run('broadcast', { ...job, perSecond: editsPerSecond }))
    })
    return (cpuMs - (idleMs * (performance.now() - startMs)) / 2000) / sent
  })
}

/** 20 of 100 people edit, and how long one of their edits takes meanwhile. */
async function busyBoard(bench: Bench, { subject, reference }: Sides): Promise<Row[]> {
  const measure = (server: EditorServer) => () =>
    observed(bench, server, 80, async (board) => {
      const job = { server: server.editors, boards: [board], what: 'edits' as const, seconds, senders: 20 }
      let result = { sent: 0, p50Ms: 0 }
      const cpuMs = await cpuOf(server, async () => {
        result = await bench.load.run('broadcast', { ...job, perSecond: 10 })
      })
      return { cpuMs: cpuMs / result.sent, p50Ms: result.p50Ms }
    })
  const name = '20 of 100 people edit at 10 edits/s'
  await measure(subject)()
  await measure(reference)()
  const compared = await compare(
    bench,
    name,
    { subject: measure(subject), reference: measure(reference) },
    ({ cpuMs, p50Ms }) => `${formatNumber(cpuMs)} ms of CPU, p50 ${formatNumber(p50Ms)} ms`,
  )
  const about = { referenceName: 'bare Hocuspocus' }
  return [
    rowOf(compared, ({ cpuMs }) => cpuMs, {
      ...{ ...about, name: `${name}: CPU of an edit`, unit: 'ms CPU', target: { atMost: 1.1 } },
    }),
    rowOf(compared, ({ p50Ms }) => p50Ms, {
      ...{ ...about, name: `${name}: until acknowledged`, unit: 'ms p50', target: { atMost: 1.5 } },
    }),
  ]
}

/** @returns ms of CPU time for reading one frame of somebody who is alone on a board */
async function frameInMs(bench: Bench, server: EditorServer): Promise<number> {
  const boards = await server.createBoards(loneBoards)
  await settled(server)
  const send = (seconds: number) =>
    bench.load.run('broadcast', {
      ...{ server: server.editors, boards, what: 'cursors', perSecond: lonePerSecond, seconds },
    })
  const measured = async (seconds: number) => {
    let sent = 0
    const cpuMs = await cpuOf(server, async () => {
      ;({ sent } = await send(seconds))
    })
    await settled(server)
    return { sent, cpuMs }
  }
  const joining = await measured(0.01)
  const moving = await measured(seconds)
  return (moving.cpuMs - joining.cpuMs) / (moving.sent - joining.sent)
}

/** @returns ms of CPU time in a second */
async function cursorMs(
  bench: Bench,
  server: EditorServer,
  shape: { people: number; perSecond: number; moves: boolean; seconds: number },
): Promise<number> {
  const [board] = await server.createBoards(1)
  await settled(server)
  const joined = { ...shape, server: server.editors, board: board! }
  const joining = await cpuOf(server, () => bench.load.run('crowd', { ...joined, seconds: 0 }))
  return ((await cpuOf(server, () => bench.load.run('crowd', joined))) - joining) / shape.seconds
}
