import { setTimeout as delay } from 'node:timers/promises'
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding'
import { CursorStream } from './cursor-stream.ts'
import { openEditor, type EditorSocket } from './editor.ts'
import type { CursorJob, Jobs } from './jobs.ts'
import { Latencies } from './latencies.ts'

const seenWithinMs = 10_000

/** Measures the time from sending a cursor position until an editor of another node receives it, or a newer one. */
export async function cursor(job: CursorJob): Promise<Jobs['cursor']['result']> {
  const viewer = await openEditor(job.to, job.board)
  const mover = await openEditor(job.from, job.board)
  const stream = new CursorStream()
  const latencies = new Latencies()
  /** When each clock was sent, the oldest first. */
  const waiting: { clock: number; sentMs: number }[] = []
  viewer.onAwareness = (states) => {
    const clock = clockOf(states, stream.clientId)
    while (waiting[0] && waiting[0].clock <= clock)
      latencies.record(performance.now() - waiting.shift()!.sentMs)
  }
  try {
    // Neither measured: the first position, which also tells the nodes of a new client.
    mover.sendAwareness(stream.next().states)
    await delay(1000)
    for (let n = 0; n < job.count; n++) {
      await move(mover, stream, waiting)
      if (job.waits) await allSeen(waiting)
      await delay(job.everyMs)
    }
    await allSeen(waiting)
  } finally {
    stream.end()
    viewer.close()
    mover.close()
  }
  return { p50Ms: latencies.percentile(0.5) }
}

async function move(
  mover: EditorSocket,
  stream: CursorStream,
  waiting: { clock: number; sentMs: number }[],
): Promise<void> {
  const { states, clock } = stream.next()
  waiting.push({ clock, sentMs: performance.now() })
  mover.sendAwareness(states)
}

async function allSeen(waiting: unknown[]): Promise<void> {
  const giveUpMs = performance.now() + seenWithinMs
  while (waiting.length > 0) {
    if (performance.now() > giveUpMs)
      throw new Error(`a cursor did not arrive within ${seenWithinMs / 1_000} s`)
    await delay(1)
  }
}

/** The clock of a client in encoded states, or -1. */
function clockOf(states: Uint8Array, clientId: number): number {
  const decoder = createDecoder(states)
  for (let left = readVarUint(decoder); left > 0; left--) {
    const id = readVarUint(decoder)
    const clock = readVarUint(decoder)
    readVarString(decoder)
    if (id === clientId) return clock
  }
  return -1
}
