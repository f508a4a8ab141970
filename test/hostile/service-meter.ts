/**
 * Loaded into the service before its own code (`NODE_OPTIONS=--import`). Measures the turns of its event loop, and
 * answers on a Unix socket from a thread of its own, so that it can be asked while the loop stands.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { measureTurns, TurnFigures, type Turns } from '../support/turn-meter.ts'

/** Where the service listens for questions about its figures. */
export const socketVariable = 'HOSTILE_METER_SOCKET'

export interface ServiceFigures extends Turns {
  /** The most memory that the process had (RSS). */
  peakBytes: number
}

interface MeterThread {
  meterSocket: string
  memory: SharedArrayBuffer
}

const socketPath = process.env[socketVariable]
if (isMainThread && socketPath) {
  const { memory } = measureTurns()
  const thread: MeterThread = { meterSocket: socketPath, memory }
  new Worker(new URL(import.meta.url), { workerData: thread }).unref()
} else if (!isMainThread && isMeterThread(workerData)) answerOn(workerData)

function isMeterThread(data: unknown): data is MeterThread {
  return typeof data === 'object' && data !== null && 'meterSocket' in data
}

/** GET reads, POST reads and starts anew. */
function answerOn({ meterSocket, memory }: MeterThread): void {
  const figures = new TurnFigures(memory)
  rmSync(meterSocket, { force: true })
  createServer((request, response) => {
    const answer: ServiceFigures = { ...figures.read(), peakBytes: peakBytes() }
    if (request.method === 'POST') {
      figures.reset()
      writeFileSync('/proc/self/clear_refs', peakOnly)
    }
    response.end(JSON.stringify(answer))
  }).listen(meterSocket)
}

/** What `clear_refs` takes to forget the peak. */
const peakOnly = '5'

function peakBytes(): number {
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024
}
