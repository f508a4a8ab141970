import { setTimeout as delay } from 'node:timers/promises'
import type { Bench, EditorServer, Measure, MemoryBytes, Row } from '../bench.ts'
import { compare, rowOf } from '../compare.ts'
import { formatNumber } from '../table.ts'
import { cpuOf, settled } from './cpu.ts'
import { settledMemory, usedBytes } from './memory.ts'

const sockets = 2000
const boards = 20
/** Each with one editor. */
const emptyBoards = 500
const filledBoards = 3
const filledMegabytes = 1.7
/** About 170 bytes each. */
const cardsOfFilled = 10_000
/** Corkboard drops a document that nobody has open, or has changed, after a minute. */
const dropWithinMs = 180_000
/** Each quiet socket gets two keep-alives in this time: one every 15 s. */
const idleSeconds = 30

interface Figures {
  socketBytes: number
  idleMs: number
  boardBytes: number
  filledBytes: number
  quietBytes: number
  shownBytes: number
}

const about = {
  socketBytes: { name: `memory of an idle socket, of ${formatNumber(sockets)}`, unit: 'KB', atMost: 1.5 },
  idleMs: { name: `${formatNumber(sockets)} idle sockets, each second`, unit: 'ms CPU', atMost: 1.5 },
  boardBytes: { name: 'memory of an empty open board', unit: 'KB', atMost: 0.2 },
  filledBytes: {
    name: `memory of an open board of ${formatNumber(cardsOfFilled)} cards`,
    unit: 'KB',
    atMost: 0.2,
  },
  quietBytes: {
    name: `the same, still open a minute after its last edit`,
    unit: 'KB',
    atMost: 0.2,
  },
  shownBytes: {
    name: `the same, opened again and not edited yet`,
    unit: 'KB',
    atMost: 0.2,
  },
} as const

/** What is open and idle. Memory is heap and buffers after a collection. Each run uses a new process. */
export const idleSockets: Measure = {
  name: 'sockets',
  summary: `memory and CPU of ${formatNumber(sockets)} idle sockets, and memory of open boards, against bare Hocuspocus`,
  needsCorkboard: false,
  async run(bench) {
    const side =
      (start: () => Promise<EditorServer>, { isStored = false } = {}) =>
      () =>
        figures(bench, start, isStored)
    const compared = await compare(
      bench,
      'idle sockets and boards',
      {
        subject: side(bench.crowdSubject, { isStored: true }),
        reference: side(() => bench.freshEditorPeer('hocuspocus')),
      },
      ({ socketBytes, idleMs, boardBytes, filledBytes, quietBytes, shownBytes }) =>
        `a socket ${kilobytes(socketBytes)}, idle ${formatNumber(idleMs)} ms/s, a board ${kilobytes(boardBytes)}, ` +
        `a filled one ${kilobytes(filledBytes)}, quiet ${kilobytes(quietBytes)}, opened again ${kilobytes(shownBytes)}`,
    )
    return (Object.keys(about) as (keyof Figures)[]).map((field): Row => {
      const { name, unit, atMost } = about[field]
      return rowOf(compared, (figures) => figures[field] / (unit === 'KB' ? 1024 : 1), {
        ...{ name, unit, referenceName: 'bare Hocuspocus', target: { atMost } },
      })
    })
  },
}

const kilobytes = (bytes: number) => `${formatNumber(bytes / 1024)} KB`

/** @param isStored whether the server stores boards, so that it can drop documents; else a board opened again is empty */
async function figures(
  bench: Bench,
  start: () => Promise<EditorServer>,
  isStored: boolean,
): Promise<Figures> {
  const server = await start()
  const hold = (boards: string[], editorsPerBoard: number) =>
    bench.load.run('hold', { server: server.editors, boards, editorsPerBoard })
  try {
    // The first connections also compile code, and allocate memory that all connections share.
    const [warmUp, ...shared] = await server.createBoards(1 + boards)
    const own = await server.createBoards(emptyBoards)
    const filled = await server.createBoards(filledBoards)
    await hold([...own.slice(0, 20), warmUp!], 10)
    const empty = await settledMemory(server)
    await fill(bench, server, warmUp!)
    const warm = await settledMemory(server)
    await released(bench, server, warm, usedBytes(warm) - usedBytes(empty))
    await settled(server)

    const before = await settledMemory(server)
    const startCpu = await cpuOf(server, () => delay(idleSeconds * 1000))
    await hold(shared, sockets / boards)
    await settled(server)
    const held = await settledMemory(server)
    const idleCpu = await cpuOf(server, () => delay(idleSeconds * 1000))
    const socketBytes = (usedBytes(held) - usedBytes(before)) / sockets

    await hold(own, 1)
    await settled(server)
    const opened = await settledMemory(server)
    await hold(filled, 1)
    for (const board of filled) await fill(bench, server, board)
    await settled(server)
    const full = await settledMemory(server)
    const filledBytes = (usedBytes(full) - usedBytes(opened)) / filledBoards - socketBytes
    const quiet = async () => {
      const now = await dropped(server, full, 0.9 * filledBoards * filledBytes)
      return (usedBytes(now) - usedBytes(opened)) / filledBoards - socketBytes
    }
    const shown = async () => {
      const closed = await released(bench, server, full, filledBoards * filledBytes)
      await hold(filled, 1)
      await settled(server)
      return (usedBytes(await settledMemory(server)) - usedBytes(closed)) / filledBoards - socketBytes
    }
    return {
      socketBytes,
      idleMs: (idleCpu - startCpu) / idleSeconds,
      boardBytes: (usedBytes(opened) - usedBytes(held)) / emptyBoards - socketBytes,
      filledBytes,
      quietBytes: isStored ? await quiet() : filledBytes,
      shownBytes: isStored ? await shown() : filledBytes,
    }
  } finally {
    await bench.load.run('release', null).catch(() => undefined)
    await server.stop()
  }
}

/** Releases all editors, and waits until their documents have left memory. @returns the memory then */
async function released(
  bench: Bench,
  server: EditorServer,
  held: MemoryBytes,
  documentBytes: number,
): Promise<MemoryBytes> {
  await bench.load.run('release', null)
  return dropped(server, held, documentBytes / 2)
}

/** Waits until documents that took `bytes` have left memory. @returns the memory then */
async function dropped(server: EditorServer, held: MemoryBytes, bytes: number): Promise<MemoryBytes> {
  const deadline = performance.now() + dropWithinMs
  for (;;) {
    const now = await settledMemory(server)
    if (usedBytes(held) - usedBytes(now) > bytes) return now
    if (performance.now() > deadline) throw new Error('the documents do not leave memory')
    await delay(5000)
  }
}

function fill(bench: Bench, server: EditorServer, board: string): Promise<null> {
  return bench.load.run('fill', {
    ...{ server: server.editors, board },
    ...{ bytes: filledMegabytes * 1_000_000, textChars: 60 },
  })
}
