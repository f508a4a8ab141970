import { setTimeout as delay } from 'node:timers/promises'
import { CursorStream } from './cursor-stream.ts'
import { openEditors } from './editor.ts'
import type { CrowdJob } from './jobs.ts'

const quietMs = 1000

export async function crowd(job: CrowdJob): Promise<{ sent: number; delivered: number }> {
  const editors = await openEditors(job.server, [job.board], job.people)
  const streams = editors.map(() => new CursorStream())
  let [sent, delivered] = [0, 0]
  const everyMs = 1000 / job.perSecond
  let heardMs = performance.now()
  for (const editor of editors)
    editor.onAwareness = () => {
      delivered += 1
      heardMs = performance.now()
    }
  try {
    // Who sends keep-alives is known to the others already. That they appear is no keep-alive, and is not measured.
    if (!job.moves) editors.forEach((editor, n) => editor.sendAwareness(streams[n]!.renew().states))
    while (!job.moves && performance.now() - heardMs < quietMs) await delay(100)
    const endMs = performance.now() + job.seconds * 1000
    await Promise.all(
      editors.map(async (editor, n) => {
        // The cursors of a crowd don't move at the same moment.
        let nextMs = performance.now() + (everyMs * n) / editors.length
        for (; nextMs < endMs; nextMs += everyMs) {
          await delay(Math.max(0, nextMs - performance.now()))
          editor.sendAwareness(job.moves ? streams[n]!.next().states : streams[n]!.renew().states)
          sent += 1
        }
      }),
    )
    await delay(500)
  } finally {
    for (const stream of streams) stream.end()
    for (const editor of editors) editor.close()
  }
  return { sent, delivered }
}
