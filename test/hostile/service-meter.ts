/**
 * Loaded into the service before its own code (`NODE_OPTIONS=--import`). Measures the turns of its event loop. A
 * separate thread answers on a Unix socket, so that it works while the loop is blocked.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { measureTurns, TurnFigures, type Turns } from '../support/turn-meter.ts'

/** Path of the Unix socket that returns the figures. */
export const socketVariable = 'HOSTILE_METER_SOCKET'

export interface ServiceFigures extends Turns {
  /** Peak memory of the process (RSS). */
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

/** GET reads the figures. POST reads and resets them. */
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

/** Value for `clear_refs` that resets the peak. */
const peakOnly = '5'

function peakBytes(): number {
  return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024
}
