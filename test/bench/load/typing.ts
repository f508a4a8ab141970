import { setTimeout as delay } from 'node:timers/promises'
import { ApiClient } from './api.ts'
import { openEditor } from './editor.ts'
import { editStream } from './edits.ts'
import type { Jobs, TypingJob } from './jobs.ts'
import { Latencies } from './latencies.ts'

export async function typing(job: TypingJob): Promise<Jobs['typing']['result']> {
  const editor = await openEditor(job.server, job.board)
  const client = job.clients > 0 ? new ApiClient(job.api, job.clients) : null
  const latencies = new Latencies()
  const endMs = performance.now() + job.seconds * 1000
  let written = 0
  const write = async () => {
    for (let turn = 0; performance.now() < endMs; turn++) {
      await client!.send({ method: 'POST', path: `/boards/${job.board}/cards`, cards: 1 }, turn)
      written += 1
    }
  }
  const type = async () => {
    for (let turn = 0; performance.now() < endMs; turn++) {
      const acknowledged = Promise.withResolvers<void>()
      editor.onAcknowledged = acknowledged.resolve
      editor.onFailure = acknowledged.reject
      const sentMs = performance.now()
      editor.sendUpdate(editStream(0).at(turn).update)
      await acknowledged.promise
      latencies.record(performance.now() - sentMs)
      await delay(Math.max(0, sentMs + 1000 / job.editsPerSecond - performance.now()))
    }
  }
  try {
    await Promise.all([type(), ...Array.from({ length: job.clients }, write)])
  } finally {
    editor.close()
    await client?.close()
  }
  return { p95Ms: latencies.percentile(0.95), writesPerSecond: written / job.seconds }
}
