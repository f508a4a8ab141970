import { setTimeout as delay } from 'node:timers/promises'
import { CursorStream } from './cursor-stream.ts'
import { editStream } from './edits.ts'
import { openEditors, type EditorSocket } from './editor.ts'
import { held } from './hold.ts'
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
    const sent = job.what === null ? await idle(job) : await send(job, job.what)
    while (performance.now() - lastMs < quietMs) await delay(50)
    return { sent, delivered }
  } finally {
    for (const editor of held) editor.onUpdate = editor.onAwareness = null
  }
}

async function idle({ seconds }: BroadcastJob): Promise<number> {
  await delay(seconds * 1000)
  return 0
}

async function send(job: BroadcastJob, what: 'edits' | 'cursors'): Promise<number> {
  const editors = await openEditors(job.server, job.boards, 1)
  const counts = await Promise.all(editors.map((editor) => sendFrom(editor, job, what)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function sendFrom(
  editor: EditorSocket,
  job: BroadcastJob,
  what: NonNullable<BroadcastJob['what']>,
): Promise<number> {
  const edits = editStream(0)
  const cursors = new CursorStream()
  const startMs = performance.now()
  let sent = 0
  try {
    for (; performance.now() - startMs < job.seconds * 1000; sent++) {
      const acknowledged = Promise.withResolvers<void>()
      editor.onAcknowledged = acknowledged.resolve
      editor.onFailure = acknowledged.reject
      if (what === 'edits') {
        editor.sendUpdate(edits.at(sent).update)
        await acknowledged.promise
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
