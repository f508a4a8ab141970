import { setTimeout as delay } from 'node:timers/promises'
import { CursorStream } from './cursor-stream.ts'
import { editStream } from './edits.ts'
import { openEditors, type EditorSocket } from './editor.ts'
import { held } from './hold.ts'
import { Latencies } from './latencies.ts'
import type { Broadcast, BroadcastJob } from './jobs.ts'

const quietMs = 500

/** Sends at a steady rate, and counts what the held editors receive. Resolves when they receive nothing more. */
export async function broadcast(job: BroadcastJob): Promise<Broadcast> {
  let delivered = 0
  let lastMs = performance.now()
  const count = () => {
    delivered += 1
    lastMs = performance.now()
  }
  for (const editor of held) {
    if (job.what === 'edits') editor.onUpdate = count
    else editor.onAwareness = count
  }
  try {
    const latencies = new Latencies()
    const sent = job.what === null ? await idle(job) : await send(job, job.what, latencies)
    while (performance.now() - lastMs < quietMs) await delay(50)
    return { sent, delivered, p50Ms: latencies.percentile(0.5) }
  } finally {
    for (const editor of held) editor.onUpdate = editor.onAwareness = null
  }
}

async function idle({ seconds }: BroadcastJob): Promise<number> {
  await delay(seconds * 1000)
  return 0
}

async function send(job: BroadcastJob, what: 'edits' | 'cursors', latencies: Latencies): Promise<number> {
  const editors = await openEditors(job.server, job.boards, job.senders ?? 1)
  const counts = await Promise.all(
    editors.map((editor, n) => sendFrom(editor, job, what, latencies, n % (job.senders ?? 1))),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function sendFrom(
  editor: EditorSocket,
  job: BroadcastJob,
  what: NonNullable<BroadcastJob['what']>,
  latencies: Latencies,
  sender: number,
): Promise<number> {
  const edits = editStream(sender)
  const cursors = new CursorStream()
  const startMs = performance.now()
  let sent = 0
  try {
    for (; performance.now() - startMs < job.seconds * 1000; sent++) {
      const acknowledged = Promise.withResolvers<void>()
      editor.onAcknowledged = acknowledged.resolve
      editor.onFailure = acknowledged.reject
      if (what === 'edits') {
        const sentMs = performance.now()
        editor.sendUpdate(edits.at(sent).update)
        await acknowledged.promise
        latencies.record(performance.now() - sentMs)
      } else {
        editor.sendAwareness(cursors.next().states)
      }
      const nextMs = job.perSecond === null ? 0 : startMs + ((sent + 1) * 1000) / job.perSecond
      await delay(Math.max(0, nextMs - performance.now()))
    }
  } finally {
    cursors.end()
    editor.close()
  }
  return sent
}
